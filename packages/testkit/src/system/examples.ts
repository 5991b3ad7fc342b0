import { type AnyRoute, filledExample, newRecord } from '@counterfoil/engine/define';
import { modules, secretsFrom } from '@counterfoil/modules';
import { z } from 'zod';
import { type Answer, type Caller, isRead } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type Field, fieldsIn, fieldsOfPart, type Operation, type Schema } from './operations.ts';

/** The parts of a request that differ from operation to operation. */
export interface ExampleRequest {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The place of a value in a request: `path.id`, `query.id`, `body.customer_id`, `body.sort.0.field`. */
export type Place = `${'path' | 'query' | 'body'}.${string}`;

/** That which names a record: its kind, with a field after a dot where it is not the id. */
export type RecordName = string;

const slices = modules({ secrets: secretsFrom('0'.repeat(64)) });

const routes: ReadonlyMap<string, AnyRoute> = new Map(
  slices.flatMap((slice) => Object.entries(slice.routes)),
);

/** The keys of all routes. */
export const routeKeys = (): string[] => slices.flatMap((slice) => Object.keys(slice.routes));

const exampleOf = (key: string) => routes.get(key)?.example ?? {};

/** Returns the route that makes records of a kind, and the member of its answer that holds them. */
export function makerOf(kind: string): { readonly key: string; readonly madeIn?: string } {
  for (const [key, { example }] of routes) {
    if (example?.makes === kind) return { ...example, key };
  }
  throw new Error(`no route has an example that makes a ${kind}`);
}

const REFERENCE = /^([a-z]+(?:_[a-z]+)*)_01KA0+$/;

/** The kind that the example of a schema names, such as `cust_01KA…`; null for other schemas. */
const kindIn = (example: unknown): string | null => REFERENCE.exec(String(example))?.[1] ?? null;

/** The example of a route with placeholders, the records of its path among them. */
function template(key: string) {
  const { params, query, body } = exampleOf(key);
  const shape = (routes.get(key)?.params as z.ZodObject | undefined)?.shape ?? {};
  const records = Object.entries(shape).flatMap(([name, schema]) => {
    const kind = kindIn(z.globalRegistry.get(schema as z.ZodType)?.example);
    return kind === null ? [] : [[name, newRecord(kind)]];
  });
  return { path: { ...Object.fromEntries(records), ...params }, query, body };
}

/** That which puts texts and new records in the place of placeholders. */
export interface RecordMaker {
  readonly text: (sample: string) => string;
  readonly record: (kind: string) => Promise<Readonly<Record<string, unknown>>>;
}

/** A request to a route that succeeds, each time on new records. */
export async function exampleRequest(own: RecordMaker, key: string): Promise<ExampleRequest> {
  const request = template(key);
  const kinds = new Set(exampleOf(key).needs);
  const kindOf = (name: RecordName): string => name.split('.')[0] ?? name;
  filledExample(request, {
    text: (sample) => sample,
    record: (name) => {
      kinds.add(kindOf(name));
      return name;
    },
  });
  const made = await Promise.all(
    [...kinds].map(async (kind) => [kind, await own.record(kind)] as const),
  );
  const records = new Map(made);
  return filledExample(request, {
    text: (sample) => own.text(sample),
    record: (name) => String(records.get(kindOf(name))?.[name.split('.')[1] ?? 'id']),
  }) as ExampleRequest;
}

/** The places of a template with a placeholder for a record, and what names it there. */
function placeholdersIn(value: unknown, path: string): [string, RecordName][] {
  if (typeof value === 'string') {
    const found: [string, RecordName][] = [];
    const record = (name: RecordName): string => {
      found.push([path, name]);
      return name;
    };
    filledExample(value, { text: (sample) => sample, record });
    return found;
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => placeholdersIn(inner, `${path}.${key}`));
}

/** The fields of all parts of a request to an operation, by place. */
function placesOf(operation: Operation): Map<Place, Field> {
  const parts = {
    path: fieldsOfPart(operation.pathParameters),
    query: fieldsOfPart(operation.query),
    body: operation.body ? fieldsIn(operation.body) : [],
  };
  return new Map(
    Object.entries(parts).flatMap(([part, fields]) =>
      fields.map((field) => [`${part}.${field.path.join('.')}` as Place, field] as const),
    ),
  );
}

/** The place of a field of the query or the body, by its name in an example. */
const placeOf = (operation: Operation, field: string): Place =>
  `${field in operation.query ? 'query' : 'body'}.${field}`;

/** The places of an operation that name records, and what names one there. */
function namesOf(operation: Operation): Map<Place, RecordName> {
  const { names = {}, texts = [] } = exampleOf(operation.key);
  const found = new Map<Place, RecordName>();
  for (const [place, { schemas }] of placesOf(operation)) {
    const kind = schemas.map(({ example }) => kindIn(example)).find((each) => each !== null);
    if (kind != null) found.set(place, kind);
  }
  for (const [part, value] of Object.entries(template(operation.key))) {
    for (const [place, name] of placeholdersIn(value, part)) found.set(place as Place, name);
  }
  for (const [field, name] of Object.entries(names)) found.set(placeOf(operation, field), name);
  for (const field of texts) found.delete(placeOf(operation, field));
  return found;
}

/** The records that an operation names, by what happens when there is none. */
export interface References {
  /** Places for which the operation answers 404. */
  readonly required: ReadonlyMap<Place, RecordName>;
  /** Places that a list or search is narrowed down by; a value that fits nothing finds nothing. */
  readonly filters: ReadonlyMap<Place, RecordName>;
}

/** Tells whether the query of an operation has to name a record, by any of several parameters. */
export const namesByQuery = ({ key, queryRequired }: Operation): boolean =>
  !queryRequired && placeholdersIn(template(key).query, 'query').length > 0;

/** The records that an operation names. */
export function referencesOf(operation: Operation): References {
  const places = placesOf(operation);
  const isList = places.has('query.limit') || places.has('body.limit');
  const isFilter = (place: Place): boolean =>
    isList && !place.startsWith('path.') && !namesByQuery(operation);
  const all = [...namesOf(operation)];
  return {
    required: new Map(all.filter(([place]) => !isFilter(place))),
    filters: new Map(all.filter(([place]) => isFilter(place))),
  };
}

/** Names of fields that name records, or look as if they did. */
const looksLikeReference = /^(ids?|created_by|.*_ids?)$/;

/**
 * The places of an operation that could name a record and of which neither their schema nor the example
 * of the route says so.
 */
export function unclassifiedPlaces(operation: Operation): string[] {
  const texts = exampleOf(operation.key).texts ?? [];
  const known = new Set<string>([
    ...namesOf(operation).keys(),
    ...texts.map((field) => placeOf(operation, field)),
    ...texts.map((field) => `path.${field}`),
  ]);
  return [...placesOf(operation)].flatMap(([place, { path }]) => {
    const name = path.findLast((key) => typeof key === 'string') ?? '';
    // The items of a list stand for the list itself.
    const isLast = typeof path.at(-1) === 'string';
    const isReference = place.startsWith('path.') || looksLikeReference.test(name);
    return isLast && isReference && !known.has(place) ? [`${operation.key} ${place}`] : [];
  });
}

/** The path and query of a request to an operation. */
export function addressOf({ path }: Pick<Operation, 'path'>, request: ExampleRequest): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(request.path?.[name] ?? ''),
  );
  const query = new URLSearchParams(request.query).toString();
  return query === '' ? filled : `${filled}?${query}`;
}

/** Sends a request to an operation. */
export function send(
  { call }: Pick<Caller, 'call'>,
  operation: Operation,
  request: ExampleRequest,
  headers?: Readonly<Record<string, string>>,
): Promise<Answer> {
  const address = addressOf(operation, request);
  return eventually(async () => {
    const answer = await call(operation.method, address, request.body, headers);
    // On a busy machine a read may be told to come later; one that always is never gets an answer.
    return !(answer.status === 503 && isRead(operation.method, address)) && answer;
  });
}

/**
 * The value with another one at a place inside it. Objects on the way there are made where they are
 * missing.
 */
export function withValue(
  whole: unknown,
  [key, ...rest]: readonly (string | number)[],
  value: unknown,
): unknown {
  if (key === undefined) return value;
  if (typeof key === 'number') {
    const items = Array.isArray(whole) ? [...whole] : [];
    items[key] = withValue(items[key], rest, value);
    return items;
  }
  const members = typeof whole === 'object' && whole !== null ? whole : {};
  const inner = (members as Readonly<Record<string, unknown>>)[key];
  return { ...members, [key]: withValue(inner, rest, value) };
}

const keysOf = (place: Place): (string | number)[] =>
  place.split('.').map((key) => (/^\d+$/.test(key) ? Number(key) : key));

/** The request with another value at a place. */
export const requestWith = (request: ExampleRequest, place: Place, value: unknown) =>
  withValue(request, keysOf(place), value) as ExampleRequest;

/** The fields of a body, and of the items of its lists, of which exactly one may be given, for each such choice. */
const choicesIn = (body: Schema | null, within = ''): string[][] => [
  ...(body?.allOf ?? []).flatMap(({ oneOf }) =>
    oneOf
      ? [oneOf.flatMap(({ required }) => (required ?? []).map((field) => `${within}${field}`))]
      : [],
  ),
  ...Object.entries(body?.properties ?? {}).flatMap(([name, { items }]) =>
    items ? choicesIn(items, `${within}${name}.0.`) : [],
  ),
];

/** Tells whether a place of the body holds a list; lists in the query are texts with commas. */
export const isListAt = ({ body }: Pick<Operation, 'body'>, place: Place): boolean =>
  fieldsIn(body ?? {}).some(
    ({ path, types }) => `body.${path.join('.')}` === place && types.has('array'),
  );

/** The request with a record named at a place, without what may not be given beside it. */
export function requestNaming(
  { body }: Operation,
  request: ExampleRequest,
  place: Place,
  name: string,
): ExampleRequest {
  const field = place.replace('body.', '');
  const others = choicesIn(body).flatMap((choice) => (choice.includes(field) ? choice : []));
  const cleared = others.reduce(
    (whole, other) => requestWith(whole, `body.${other}`, undefined),
    request,
  );
  return requestWith(cleared, place, isListAt({ body }, place) ? [name] : name);
}

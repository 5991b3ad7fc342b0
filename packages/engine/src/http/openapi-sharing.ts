import { canonicalJson } from '@counterfoil/kernel';
import { isMap } from './fields.ts';
import { pascalCase } from './operation-id.ts';

type Json = Record<string, unknown>;

/** Keywords with values of callers or conditions, in which no field is described. */
const closed = new Set(['example', 'default', 'enum', 'const', 'if', 'then', 'else', 'not']);

/** A field or an item of a list, and where it stands. */
interface Place {
  /** Its holder, in which a reference may be put in its place. */
  readonly holder: Json;
  readonly key: string;
  readonly schema: Json;
  /** Its name: `name`, or `lots item` for what the list `lots` holds. */
  readonly name: string;
  /** The named schema that it is a part of. */
  readonly owner: string;
}

/** The fields and items in a part of a schema, the outer ones first. */
function* placesIn(part: unknown, owner: string, name: string): Generator<Place> {
  if (Array.isArray(part)) {
    for (const item of part) yield* placesIn(item, owner, name);
  }
  if (!isMap(part)) return;
  for (const [keyword, value] of Object.entries(part)) {
    if (closed.has(keyword)) continue;
    if (keyword === 'properties' && isMap(value)) {
      for (const [key, schema] of Object.entries(value)) {
        if (isMap(schema)) yield { holder: value, key, schema, name: key, owner };
        yield* placesIn(schema, owner, key);
      }
    } else {
      const isItem = keyword === 'items' && isMap(value);
      if (isItem) yield { holder: part, key: keyword, schema: value, name: `${name}_item`, owner };
      yield* placesIn(value, owner, isItem ? `${name}_item` : name);
    }
  }
}

const mayBeNull = ({ type, anyOf }: Json): boolean =>
  [type, anyOf].some(
    (kinds) => Array.isArray(kinds) && /"null"/.test(JSON.stringify(kinds.at(-1))),
  );

/** A name for a schema that several places share, the best that is free: `Name`, `NameOrNull`, `PriceAmount`. */
function freeName({ name, owner, schema }: Place, isUsualMeaning: boolean, taken: Json): string {
  const plain = `${pascalCase(name)}${mayBeNull(schema) ? 'OrNull' : ''}`;
  if (isUsualMeaning && !(plain in taken)) return plain;
  const own = `${owner}${plain}`;
  let number = 1;
  while (nameWith(own, number) in taken) number += 1;
  return nameWith(own, number);
}

const nameWith = (name: string, number: number): string =>
  number === 1 ? name : `${name}${number}`;

/** A reference to a part of a kind. */
const referenceTo = (name: string, kind = 'schemas'): Json => ({
  $ref: `#/components/${kind}/${name}`,
});

/** The characters that it saves to write a part once, with references of a length to it. */
const savingOf = (text: string, count: number, reference: Json): number =>
  (count - 1) * text.length - (count + 1) * JSON.stringify(reference).length;

/** A shared schema pays for its name when it saves so many characters. */
const worthwhile = 0;

/** The meanings of a name, by how many fields have each. */
type Meanings = ReadonlyMap<unknown, number>;

const meaningOf = ({ schema }: Place): unknown => schema.description ?? schema.$ref;

function meaningsOf(places: readonly Place[]): ReadonlyMap<string, Meanings> {
  const meanings = new Map<string, Map<unknown, number>>();
  for (const place of places) {
    const own = meanings.get(place.name) ?? new Map<unknown, number>();
    meanings.set(place.name, own.set(meaningOf(place), (own.get(meaningOf(place)) ?? 0) + 1));
  }
  return meanings;
}

/** Tells whether no meaning of the name of a field is more common than its own. */
const isUsual = (place: Place, meanings: Meanings): boolean =>
  Math.max(...meanings.values()) === meanings.get(meaningOf(place));

/** Adds all parts of a schema. */
function addParts(part: unknown, to: Set<unknown>): void {
  if (typeof part !== 'object' || part === null) return;
  to.add(part);
  for (const inner of Object.values(part)) addParts(inner, to);
}

/**
 * Replaces fields and items of lists that are the same in several schemas by references to one schema of
 * their own, the largest first. Changes the schemas, and adds the new ones.
 */
export function shareFields(schemas: Json): void {
  const places = Object.entries(schemas).flatMap(([name, schema]) => [
    ...placesIn(schema, name.replace(/Output$/, ''), name),
  ]);
  const meanings = meaningsOf(places);
  const groups = Map.groupBy(
    places.filter(({ schema }) => schema.$ref === undefined),
    ({ schema }) => canonicalJson(schema),
  );
  const removed = new Set<unknown>();
  const largestFirst = [...groups].sort(([left], [right]) => right.length - left.length);
  for (const [text, group] of largestFirst) {
    const [first, ...others] = group.filter(({ schema }) => !removed.has(schema));
    if (first === undefined || others.length === 0) continue;
    const name = freeName(first, isUsual(first, meanings.get(first.name) ?? new Map()), schemas);
    if (savingOf(text, others.length + 1, referenceTo(name)) <= worthwhile) continue;
    schemas[name] = first.schema;
    for (const { holder, key } of [first, ...others]) holder[key] = referenceTo(name);
    for (const { schema } of others) addParts(schema, removed);
  }
}

/** The schema without what it means at one place. */
const typeOf = ({ description: _, ...type }: Json): Json => type;

/** Names for types, by what they are and not by what they mean: `Instant`, `DecimalOrNull`, `Texts`. */
function typeName(type: Json, place: Place, taken: Json): string {
  const plain = plainTypeName(type);
  if (plain === null) return freeName(place, false, taken);
  const name = `${plain}${mayBeNull(type) ? 'OrNull' : ''}`;
  let number = 1;
  while (nameWith(name, number) in taken) number += 1;
  return nameWith(name, number);
}

function plainTypeName({ type, format, pattern, items }: Json): string | null {
  if (format === 'date-time') return 'Instant';
  if (pattern !== undefined && [type].flat().includes('number')) return 'Decimal';
  return isMap(items) && items.type === 'string' && !('enum' in items) ? 'Texts' : null;
}

/**
 * Replaces the types of fields that several have in common, each with its own meaning, by references to one
 * schema, beside which the meaning stays. Changes the parts, and adds the new schemas.
 */
export function shareTypes(schemas: Json, parameters: readonly Json[]): void {
  const fields = Object.entries(schemas).flatMap(([name, schema]) => [
    ...placesIn(schema, name.replace(/Output$/, ''), name),
  ]);
  const ofParameters = parameters.flatMap((holder): Place[] => {
    const { schema, name } = holder;
    if (!isMap(schema)) return [];
    const place = { holder, key: 'schema', schema, name: String(name), owner: '' };
    return [place, ...placesIn(schema, '', place.name)];
  });
  const places = [...fields, ...ofParameters].filter(({ schema }) => schema.$ref === undefined);
  const groups = Map.groupBy(places, ({ schema }) => canonicalJson(typeOf(schema)));
  for (const [text, group] of groups) {
    const [first] = group;
    if (first === undefined) continue;
    const type = typeOf(first.schema);
    const name = typeName(type, group.find(({ owner }) => owner !== '') ?? first, schemas);
    if (savingOf(text, group.length, referenceTo(name)) <= worthwhile) continue;
    schemas[name] = type;
    for (const { holder, key, schema } of group) {
      const { description } = schema;
      holder[key] = { ...referenceTo(name), ...(description !== undefined && { description }) };
    }
  }
}

/**
 * The name of a shared answer: `Wallet` for the usual one with that body, `WalletCreated` for that of another
 * status, `WalletAt` for one that tells the place of the record, `NoContent` for one without a body.
 */
function answerName(answer: Json): string {
  const [, body = ''] = /"#\/components\/schemas\/(\w+)"/.exec(JSON.stringify(answer)) ?? [];
  const status = pascalCase(String(answer.description).replaceAll(' ', '-'));
  const ending = body !== '' && status === 'OK' ? '' : status;
  return `${body}${ending}${'headers' in answer && ending === '' ? 'At' : ''}`;
}

/**
 * Replaces answers that are the same for several operations by references, where that is shorter. Changes the
 * operations. Returns the answers by name.
 */
export function shareAnswers(operations: readonly Json[]): Json {
  const shared: Json = {};
  const places = operations.flatMap(({ responses }) =>
    Object.entries(isMap(responses) ? responses : {}).flatMap(([key, answer]) =>
      isMap(answer) && !('$ref' in answer) ? [{ holder: responses as Json, key, answer }] : [],
    ),
  );
  for (const [text, group] of Map.groupBy(places, ({ answer }) => JSON.stringify(answer))) {
    const { answer } = group[0] ?? {};
    if (answer === undefined) continue;
    const name = answerName(answer);
    const reference = referenceTo(name, 'responses');
    if (name in shared || savingOf(text, group.length, reference) <= 0) continue;
    shared[name] = answer;
    for (const { holder, key } of group) holder[key] = reference;
  }
  return shared;
}

/** A JSON schema as the OpenAPI document has them, as far as tests look into it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly example?: unknown;
}

interface Parameter {
  readonly in?: string;
  readonly name: string;
  readonly schema: Schema;
  readonly required?: boolean;
}

interface ParameterReference {
  readonly $ref: string;
}

/** An answer of an operation: bodies by media type; failures are shared. */
interface SuccessAnswer {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, unknown>>;
}

interface OpenApiOperation {
  readonly parameters?: readonly (Parameter | ParameterReference)[];
  readonly requestBody?: {
    readonly required?: boolean;
    /** A body that goes as it is has no schema. */
    readonly content: { readonly 'application/json'?: { readonly schema: Schema } };
  };
  readonly responses: Readonly<Record<string, SuccessAnswer>>;
}

/** Operations by method, and the parameters that all of them take. */
type PathItem = Readonly<Record<string, OpenApiOperation | OpenApiOperation['parameters']>>;

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: Components;
}

/** The answer of an operation that fails: the one body with the statuses that it may have. */
interface Failure {
  readonly content: { readonly 'application/json': { readonly schema: Schema } };
}

interface Components {
  readonly responses: Readonly<Record<string, Failure>>;
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly parameters: Readonly<Record<string, Parameter>>;
}

/** One operation of the OpenAPI document. Schemas hold no references. */
export interface Operation {
  /** Such as `POST /wallets/{id}/debit`. */
  readonly key: string;
  readonly method: string;
  /** Below /v1, with its placeholders. */
  readonly path: string;
  readonly success: number;
  /** The media types of its successes. */
  readonly types: readonly string[];
  /** Every status that it says it answers. */
  readonly statuses: readonly number[];
  readonly pathParameters: Readonly<Record<string, Schema>>;
  readonly query: Readonly<Record<string, Schema>>;
  /** Some parameter of the query has to be there. */
  readonly queryRequired: boolean;
  readonly body: Schema | null;
  readonly bodyRequired: boolean;
}

const prefix = '/v1';
const schemaPlace = '#/components/schemas/';
const parameterPlace = '#/components/parameters/';
const responsePlace = '#/components/responses/';

/** The schema with the members of the one that it narrows or extends beside its own. */
function withBase({ allOf = [], ...schema }: Schema, known: Schemas): Schema {
  const base = allOf.find(({ $ref }) => $ref !== undefined);
  if (!base) return { ...schema, ...(allOf.length > 0 && { allOf }) };
  const { properties, required = [], allOf: conditions = [], ...rest } = inlined(base, known);
  return {
    ...rest,
    ...schema,
    properties: { ...properties, ...schema.properties },
    required: [...required, ...(schema.required ?? [])],
    allOf: [...conditions, ...allOf.filter((each) => each !== base)],
  };
}

type Schemas = Readonly<Record<string, Schema>>;

/** The schema with everything it refers to in its place. */
function inlined(schema: Schema, known: Schemas): Schema {
  if (schema.$ref !== undefined) {
    const found = known[schema.$ref.slice(schemaPlace.length)];
    if (!found) throw new Error(`${schema.$ref} is not in the document`);
    return inlined(found, known);
  }
  const whole = withBase(schema, known);
  const { properties, items, anyOf, oneOf, additionalProperties: others } = whole;
  const each = (inner: Schema): Schema => inlined(inner, known);
  return {
    ...whole,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, inner]) => [name, each(inner)]),
      ),
    }),
    ...(items && { items: each(items) }),
    ...(anyOf && { anyOf: anyOf.map(each) }),
    ...(oneOf && { oneOf: oneOf.map(each) }),
    ...(typeof others === 'object' && { additionalProperties: each(others) }),
  };
}

/** The media types of an answer, which may be one that operations share. */
const mediaTypesOf = ({ $ref, content }: SuccessAnswer, { responses }: Components): string[] =>
  Object.keys(content ?? responses[$ref?.slice(responsePlace.length) ?? '']?.content ?? {});

function failureStatuses($ref: string | undefined, { responses }: Components): number[] {
  const schemas =
    responses[$ref?.slice(responsePlace.length) ?? '']?.content['application/json'].schema.allOf;
  const listed = schemas?.flatMap(({ properties }) => properties?.http_status_code?.enum ?? []);
  if (!listed?.length) throw new Error(`${$ref} does not say which statuses it has`);
  return listed.map(Number);
}

function sharedParameter(
  { $ref }: ParameterReference,
  shared: Components['parameters'],
): Parameter {
  const found = shared[$ref.slice(parameterPlace.length)];
  if (!found) throw new Error(`${$ref} is not in the document`);
  return found;
}

interface PathParts {
  readonly common: NonNullable<OpenApiOperation['parameters']>;
  readonly components: Components;
}

function operationOf(
  path: string,
  method: string,
  described: OpenApiOperation,
  { common, components }: PathParts,
): Operation {
  const { schemas: known, parameters: shared } = components;
  const below = path.slice(prefix.length);
  const { default: failure, ...successes } = described.responses;
  const statuses = Object.keys(successes).map(Number);
  const all = [...common, ...(described.parameters ?? [])].map((parameter) =>
    '$ref' in parameter ? sharedParameter(parameter, shared) : parameter,
  );
  const parameters = (place: string) =>
    Object.fromEntries(
      all
        .filter((parameter) => parameter.in === place)
        .map(({ name, schema }) => [name, inlined(schema, known)]),
    );
  const body = described.requestBody?.content['application/json']?.schema;
  return {
    key: `${method.toUpperCase()} ${below}`,
    method: method.toUpperCase(),
    path: below,
    success: statuses.find((status) => status < 300) ?? 0,
    types: Object.values(successes).flatMap((answer) => mediaTypesOf(answer, components)),
    statuses: [...statuses, ...failureStatuses(failure?.$ref, components)],
    pathParameters: parameters('path'),
    query: parameters('query'),
    queryRequired: all.some((parameter) => parameter.in === 'query' && parameter.required),
    body: body ? inlined(body, known) : null,
    bodyRequired: described.requestBody?.required ?? false,
  };
}

/** All operations that a running API documents, by key. */
export async function readOperations(baseUrl: string): Promise<ReadonlyMap<string, Operation>> {
  const response = await fetch(`${baseUrl}/openapi.json`);
  const document = (await response.json()) as OpenApiDocument;
  const operations = Object.entries(document.paths).flatMap(([path, item]) => {
    const { parameters: common = [], ...methods } = item as PathItem & OpenApiOperation;
    return Object.entries(methods as Readonly<Record<string, OpenApiOperation>>).map(
      ([method, described]) =>
        operationOf(path, method, described, { common, components: document.components }),
    );
  });
  return new Map(operations.map((operation) => [operation.key, operation]));
}

/** A value inside a part of a request, with all that may stand there. */
export interface Field {
  /** Keys that lead to it from the part; 0 is the first item of a list. */
  readonly path: readonly (string | number)[];
  /** The schemas of which one must fit, without unions. */
  readonly schemas: readonly Schema[];
  /** JSON types that may stand there. */
  readonly types: ReadonlySet<string>;
  readonly isRequired: boolean;
}

const branchesOf = (schema: Schema): readonly Schema[] =>
  (schema.anyOf ?? schema.oneOf)?.flatMap(branchesOf) ?? [schema];

const typesOf = ({ type, const: only }: Schema): readonly string[] =>
  type === undefined ? (only === undefined ? [] : [typeof only]) : [type].flat();

function fieldOf(path: Field['path'], schema: Schema, isRequired: boolean): Field {
  const schemas = branchesOf(schema);
  return { path, schemas, types: new Set(schemas.flatMap(typesOf)), isRequired };
}

/** All fields inside a schema, the outer ones first. Of a list, its first item stands for all. */
export function fieldsIn(schema: Schema, path: Field['path'] = []): Field[] {
  return branchesOf(schema).flatMap((branch) => {
    const members = Object.entries(branch.properties ?? {}).map(([name, inner]) => ({
      key: name as string | number,
      inner,
      isRequired: branch.required?.includes(name) ?? false,
    }));
    if (branch.items) members.push({ key: 0, inner: branch.items, isRequired: false });
    return members.flatMap(({ key, inner, isRequired }) => {
      const place = [...path, key];
      return [fieldOf(place, inner, isRequired), ...fieldsIn(inner, place)];
    });
  });
}

/** The fields of a part of a request whose values are given by name, such as the query. */
export const fieldsOfPart = (part: Readonly<Record<string, Schema>>): Field[] =>
  Object.entries(part).map(([name, schema]) => fieldOf([name], schema, false));

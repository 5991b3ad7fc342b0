import { isMap } from './fields.ts';

type Json = Record<string, unknown>;

/** Keywords with values of callers, which are no schemas. */
const values = new Set(['example', 'default', 'enum', 'const']);

/** The value with every schema in it changed, the inner ones first. */
function eachSchema(value: unknown, change: (schema: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((item) => eachSchema(item, change));
  if (!isMap(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    values.has(name) ? member : eachSchema(member, change),
  ]);
  return change(Object.fromEntries(members));
}

const isNull = (schema: unknown): boolean =>
  isMap(schema) && schema.type === 'null' && Object.keys(schema).length === 1;

/** A schema of one type or null as one with two types, which is shorter than a union; a union in one has it too. */
function withNullType(schema: Json): Json {
  const { anyOf, ...others } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || !isNull(anyOf[1])) return schema;
  const [inner] = anyOf;
  if (isMap(inner) && Array.isArray(inner.anyOf) && inner.type === undefined) {
    return { ...inner, ...others, anyOf: [...inner.anyOf, anyOf[1]] };
  }
  if (!isMap(inner) || inner.type === undefined || 'const' in inner) return schema;
  return {
    ...inner,
    ...others,
    type: [inner.type, 'null'].flat(),
    ...(Array.isArray(inner.enum) && { enum: [...inner.enum, null] }),
  };
}

/** The part of a document with the schemas of one type or null written shortly. */
export const withNullTypes = (value: unknown): unknown =>
  eachSchema(value, (schema) => withNullType(withShortNames(schema)));

const isPart = (part: Json, whole: Json): boolean =>
  Object.entries(part).every(
    ([name, member]) => JSON.stringify(whole[name]) === JSON.stringify(member),
  );

const without = (whole: Json, part: Json): Json =>
  Object.fromEntries(Object.entries(whole).filter(([name]) => !(name in part)));

/**
 * The part of a document with every schema that has all the properties of a base written as that base
 * and what it has more.
 */
export function withBase(value: unknown, name: string, base: Json): unknown {
  const { properties: common, required: needed } = base;
  if (!isMap(common) || !Array.isArray(needed)) return value;
  return eachSchema(value, (schema) => {
    const { properties, required, ...others } = schema;
    if (!isMap(properties) || !Array.isArray(required) || 'additionalProperties' in schema) {
      return schema;
    }
    const isBase = Object.keys(properties).length === Object.keys(common).length;
    if (isBase || !isPart(common, properties)) return schema;
    return {
      allOf: [{ $ref: `#/components/schemas/${name}` }],
      ...others,
      properties: without(properties, common),
      required: required.filter((each) => !needed.includes(each)),
    };
  });
}

/**
 * The named schemas with each part that says of itself that it `narrows` one of them written as that one with what
 * differs: narrower members, and more that are required.
 */
export const withNarrowed = (schemas: Json): Json =>
  eachSchema(schemas, ({ narrows: name, ...schema }) => {
    if (typeof name !== 'string') return schema;
    const { properties: common, required: needed = [] } = schemas[name] as Json;
    const { properties, required = [] } = schema;
    const has = new Set(needed as string[]);
    const further = (required as string[]).filter((each) => !has.has(each));
    const narrower = Object.entries(properties as Json).filter(
      ([each, member]) => JSON.stringify(member) !== JSON.stringify((common as Json)[each]),
    );
    return {
      allOf: [{ $ref: `#/components/schemas/${name}` }],
      properties: Object.fromEntries(narrower),
      ...(further.length > 0 && { required: further }),
    };
  }) as Json;

/** A schema of an answer, to which members may be added. */
const isOpen = (schema: unknown): schema is Json & { properties: Json } =>
  isMap(schema) && isMap(schema.properties) && !('additionalProperties' in schema);

/** Tells whether a named schema is a kind of another, by name and members: `WalletBalance` of `Wallet`. */
function extendsSchema([name, schema]: [string, Json], [baseName, base]: [string, Json]): boolean {
  const { properties: common, required: needed = [] } = base;
  const { properties, required = [] } = schema;
  if (name === baseName || !name.includes(baseName) || !isMap(common) || !isMap(properties)) {
    return false;
  }
  const has = new Set(required as string[]);
  return (
    JSON.stringify(base.allOf) === JSON.stringify(schema.allOf) &&
    (needed as string[]).every((each) => has.has(each)) &&
    isPart(common, properties)
  );
}

/** The schemas with each that is a kind of another written as that other and what it has more. */
export function withExtensions(schemas: Json): Json {
  const open = Object.entries(schemas).filter((entry): entry is [string, Json] => isOpen(entry[1]));
  const extended = open.flatMap(([name, schema]) => {
    const bases = open.filter((base) => extendsSchema([name, schema], base));
    const [baseName, base] = bases.sort(([left], [right]) => right.length - left.length)[0] ?? [];
    if (baseName === undefined || base === undefined) return [];
    const { allOf: _, properties, required = [], ...others } = schema;
    const needed = new Set((base.required ?? []) as string[]);
    const own = {
      allOf: [{ $ref: `#/components/schemas/${baseName}` }],
      ...others,
      properties: without(properties as Json, base.properties as Json),
      required: (required as string[]).filter((each) => !needed.has(each)),
    };
    return [[name, own] as const];
  });
  return { ...schemas, ...Object.fromEntries(extended) };
}

/** The names of members are texts, so that only what else they are has to be said. */
function withShortNames({ propertyNames, ...schema }: Json): Json {
  if (!isMap(propertyNames)) return schema;
  const { type: _, ...names } = propertyNames;
  return Object.keys(names).length === 0 ? schema : { ...schema, propertyNames: names };
}

const isReference = (part: unknown): boolean => isMap(part) && '$ref' in part;

/**
 * The part of a document without the type of schemas that extend another one, which says that they are objects.
 * An empty schema stands beside a single base: openapi-python-client takes a schema with one reference for what that
 * refers to, whatever else it has.
 */
export const withoutRepeatedTypes = (value: unknown): unknown =>
  eachSchema(value, (schema) => {
    const { type, allOf, ...others } = schema;
    if (type !== 'object' || !Array.isArray(allOf) || !allOf.some(isReference)) return schema;
    return { allOf: allOf.length === 1 ? [...allOf, {}] : allOf, ...others };
  });

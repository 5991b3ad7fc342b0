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

/** A schema of one type or null as one with two types, which is shorter than a union. */
function withNullType(schema: Json): Json {
  const { anyOf, ...others } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || !isNull(anyOf[1])) return schema;
  const [inner] = anyOf;
  if (!isMap(inner) || inner.type === undefined || 'const' in inner) return schema;
  return {
    ...inner,
    ...others,
    type: [inner.type, 'null'].flat(),
    ...(Array.isArray(inner.enum) && { enum: [...inner.enum, null] }),
  };
}

/** The part of a document with the schemas of one type or null written shortly. */
export const withNullTypes = (value: unknown): unknown => eachSchema(value, withNullType);

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

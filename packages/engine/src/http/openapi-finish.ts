import { isMap } from './fields.ts';
import type { ApiInfo } from './host.ts';
import { withFamilies } from './openapi-families.ts';
import { commonFields } from './openapi-fields.ts';
import { liftParameters, operationsOf, shareParameters } from './openapi-parameters.ts';
import {
  withBase,
  withExtensions,
  withNarrowed,
  withNullTypes,
  withoutRepeatedTypes,
} from './openapi-schemas.ts';
import { shareAnswers, shareFields, shareTypes } from './openapi-sharing.ts';

type Json = Record<string, unknown>;

/** The schemas of the fields that every record has, its stamps and its status: the one with more fields first. */
const stampNames = ['RecordStamps', 'TenantStamps'];

type Fields = Readonly<Record<string, string>>;

/** Tells whether a schema is that of a name, which is described there, or null. */
const isNamed = ({ $ref, anyOf }: Json): boolean =>
  $ref !== undefined ||
  (Array.isArray(anyOf) && anyOf.some((each) => isMap(each) && '$ref' in each));

/** The description of a field: its schema's own, or the one that its name has everywhere. */
function described(field: unknown, name: string, schema: string, fields: Fields): unknown {
  const text = fields[`${schema}.${name}`] ?? fields[name];
  const isSaid = !isMap(field) || 'description' in field || isNamed(field);
  return isSaid || text === undefined ? field : { ...field, description: text };
}

/** Parts that hold values, and conditions on fields that are described where they stand first. */
const undescribed = new Set(['example', 'default', 'allOf', 'if', 'then', 'else', 'not', 'oneOf']);

/** Describes the properties and parameters of a part of the document that have no description. */
function withTexts(value: unknown, schema: string, fields: Fields): unknown {
  if (Array.isArray(value)) return value.map((item) => withTexts(item, schema, fields));
  if (!isMap(value)) return value;
  const entries = Object.entries(value).map(([key, member]) => {
    if (undescribed.has(key)) return [key, member];
    const done = withTexts(member, schema, fields);
    if (key !== 'properties' || !isMap(done)) return [key, done];
    const properties = Object.entries(done).map(([name, field]) => [
      name,
      described(field, name, schema, fields),
    ]);
    return [key, Object.fromEntries(properties)];
  });
  const whole: Json = Object.fromEntries(entries);
  const isParameter = typeof whole.name === 'string' && 'in' in whole;
  return isParameter ? described(whole, String(whole.name), schema, fields) : whole;
}

/** The parameters that stand in operations and paths, and those that these refer to. */
const allParameters = (paths: Json, shared: Json): Json[] =>
  [
    ...Object.values(paths).flatMap((item) => [item, ...operationsOf(item)] as Json[]),
    { parameters: Object.values(shared) },
  ]
    .flatMap(({ parameters }) => (Array.isArray(parameters) ? parameters : []))
    .filter((parameter) => isMap(parameter) && 'schema' in parameter);

/** The parts of all kinds that something in the document refers to, and those that need none. */
function withoutUnused(document: Json & { components: Json }): Json {
  const text = JSON.stringify(document);
  const referred = new Set(text.match(/"#\/components\/[^"]+"/g));
  const components = Object.entries(document.components).map(([kind, parts]) => [
    kind,
    Object.fromEntries(
      Object.entries(isMap(parts) ? parts : {}).filter(
        ([name]) => kind === 'securitySchemes' || referred.has(`"#/components/${kind}/${name}"`),
      ),
    ),
  ]);
  const rest = { ...document, components: Object.fromEntries(components) };
  // What only an unused part referred to is unused as well.
  return JSON.stringify(rest).length < text.length ? withoutUnused(rest) : rest;
}

/**
 * The document with a description for every field that has a known name, and with what repeats written
 * once: parameters, and the stamps of records.
 */
export function finishedDocument(
  document: object,
  { fields: own = {}, schemas: further = {}, pathWords = {} }: ApiInfo,
): object {
  const fields = { ...commonFields, ...own };
  const plain = withNullTypes(JSON.parse(JSON.stringify(document))) as Json & {
    paths: Json;
    components: Json & { schemas: Json };
  };
  const { components } = plain;
  const schemas = Object.fromEntries(
    Object.entries({ ...further, ...components.schemas }).map(([name, schema]) => {
      const plainName = name.replace(/Output$/, '');
      return [name, described(withTexts(schema, plainName, fields), plainName, '', fields)];
    }),
  );
  const paths = withTexts(plain.paths, '', fields) as Json;
  const parameters = { ...(components.parameters as Json), ...shareParameters(paths, pathWords) };
  liftParameters(paths);
  const webhooks = withTexts(plain.webhooks ?? {}, '', fields);
  const based = stampNames.reduce(
    (all, name) => withBase(all, name, schemas[name] as Json) as Json,
    withNarrowed(schemas),
  );
  const composed = withoutRepeatedTypes(withFamilies(withExtensions(based))) as Json;
  shareFields(composed);
  shareTypes(composed, allParameters(paths, parameters));
  const responses = {
    ...(components.responses as Json),
    ...shareAnswers(Object.values(paths).flatMap(operationsOf)),
  };
  const whole = { ...plain, paths, webhooks };
  return withoutUnused({
    ...whole,
    components: { ...components, schemas: composed, parameters, responses },
  });
}

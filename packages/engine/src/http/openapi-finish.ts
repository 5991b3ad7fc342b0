import { isMap } from './fields.ts';
import type { ApiInfo } from './host.ts';
import { commonFields } from './openapi-fields.ts';

type Json = Record<string, unknown>;

type Fields = Readonly<Record<string, string>>;

/** The description of a field: its schema's own, or the one that its name has everywhere. */
function described(field: unknown, name: string, schema: string, fields: Fields): unknown {
  const text = fields[`${schema}.${name}`] ?? fields[name];
  const isSaid = !isMap(field) || '$ref' in field || 'description' in field;
  return isSaid || text === undefined ? field : { ...field, description: text };
}

/** Describes the properties and parameters of a part of the document that have no description. */
function withTexts(value: unknown, schema: string, fields: Fields): unknown {
  if (Array.isArray(value)) return value.map((item) => withTexts(item, schema, fields));
  if (!isMap(value)) return value;
  const entries = Object.entries(value).map(([key, member]) => {
    if (key === 'example' || key === 'default') return [key, member];
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

/** The query and path parameters that stand in more than one operation, by their text. */
function repeatedParameters(paths: Json): Map<string, Json> {
  const seen = new Map<string, { readonly parameter: Json; count: number }>();
  for (const parameter of parametersIn(paths)) {
    const text = JSON.stringify(parameter);
    const entry = seen.get(text) ?? { parameter, count: 0 };
    entry.count += 1;
    seen.set(text, entry);
  }
  return new Map(
    [...seen]
      .filter(([, { count }]) => count > 1)
      .map(([text, { parameter }]) => [text, parameter]),
  );
}

const operationsIn = (paths: Json): Json[] =>
  Object.values(paths).flatMap((path) => (isMap(path) ? Object.values(path).filter(isMap) : []));

const parametersIn = (paths: Json): Json[] =>
  operationsIn(paths).flatMap(({ parameters }) =>
    Array.isArray(parameters) ? parameters.filter((each) => isMap(each) && 'name' in each) : [],
  );

/** Replaces parameters that repeat by references. The first of a name has that name, others a number. */
function shareParameters(paths: Json): Json {
  const shared: Json = {};
  const references = new Map<string, Json>();
  for (const [text, parameter] of repeatedParameters(paths)) {
    const base = `${parameter.in}_${parameter.name}`;
    let name = base;
    for (let number = 2; name in shared; number += 1) name = `${base}_${number}`;
    shared[name] = parameter;
    references.set(text, { $ref: `#/components/parameters/${name}` });
  }
  for (const operation of operationsIn(paths)) {
    if (!Array.isArray(operation.parameters)) continue;
    operation.parameters = operation.parameters.map(
      (parameter) => references.get(JSON.stringify(parameter)) ?? parameter,
    );
  }
  return shared;
}

/**
 * The document with a description for every field that has a known name, and with each parameter that
 * repeats written once.
 */
export function finishedDocument(
  document: object,
  { fields: own = {}, schemas: further = {} }: Pick<ApiInfo, 'fields' | 'schemas'>,
): object {
  const fields = { ...commonFields, ...own };
  const plain = JSON.parse(JSON.stringify(document)) as Json & { paths: Json; components: Json };
  const { components } = plain;
  const schemas = Object.entries({ ...further, ...(components.schemas as Json) }).map(
    ([name, schema]) => [name, withTexts(schema, name.replace(/Output$/, ''), fields)],
  );
  const paths = withTexts(plain.paths, '', fields) as Json;
  const parameters = { ...(components.parameters as Json), ...shareParameters(paths) };
  return {
    ...plain,
    paths,
    webhooks: withTexts(plain.webhooks ?? {}, '', fields),
    components: { ...components, schemas: Object.fromEntries(schemas), parameters },
  };
}

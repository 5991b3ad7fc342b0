import { isMap } from './fields.ts';
import { type PathWords, pascalCase, recordName } from './operation-id.ts';

type Json = Record<string, unknown>;

/** A parameter with the path of an operation that takes it. */
interface PlacedParameter {
  readonly path: string;
  readonly parameter: Json;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The operations of a path, or of all. */
export const operationsOf = (item: unknown): Json[] =>
  isMap(item) ? Object.values(item).filter(isMap) : [];

/** The query and path parameters that stand in more than one operation, by their text. */
function repeatedParameters(paths: Json): Map<string, PlacedParameter> {
  const seen = new Map<string, PlacedParameter>();
  const repeated = new Map<string, PlacedParameter>();
  for (const [path, item] of Object.entries(paths)) {
    const parameters = operationsOf(item).flatMap((operation) => listOf(operation.parameters));
    for (const parameter of parameters.filter(isMap).filter((each) => 'name' in each)) {
      const text = JSON.stringify(parameter);
      const first = seen.get(text);
      if (first) repeated.set(text, first);
      else seen.set(text, { path, parameter });
    }
  }
  return repeated;
}

/**
 * The parameter without what its schema says a second time, and an id without an example of one kind, so that
 * all paths of one record have one parameter.
 */
function plainParameter({ schema, ...parameter }: Json): Json {
  if (!isMap(schema)) return { ...parameter, ...(schema !== undefined && { schema }) };
  const { description, example, ...others } = schema;
  const isId = parameter.in === 'path' && parameter.name === 'id';
  return {
    ...parameter,
    schema: {
      ...(description !== parameter.description && { description }),
      ...(example !== undefined && !isId && { example }),
      ...others,
    },
  };
}

/** Names that a shared parameter may have, the shortest first: `Expand`, `CustomerExpand`. No word stands twice. */
function* namesOf({ path, parameter }: PlacedParameter, words: PathWords): Generator<string> {
  const name = pascalCase(String(parameter.name));
  const isPath = parameter.in === 'path';
  const below = path.slice('/v1'.length);
  const owner = recordName(isPath ? below.split(`/{${parameter.name}}`)[0] : below, words);
  const [word = ''] = String(parameter.name).split('_').map(pascalCase);
  const own = `${owner.endsWith(word) ? owner.slice(0, -word.length) : owner}${name}`;
  yield name;
  yield own;
  for (let number = 2; ; number += 1) yield `${own}${number}`;
}

/** Replaces parameters that repeat by references. Returns them by name. */
export function shareParameters(paths: Json, words: PathWords): Json {
  for (const operation of Object.values(paths).flatMap(operationsOf)) {
    operation.parameters = listOf(operation.parameters).map((parameter) =>
      isMap(parameter) && 'name' in parameter ? plainParameter(parameter) : parameter,
    );
  }
  const shared: Json = {};
  const references = new Map<string, Json>();
  for (const [text, placed] of repeatedParameters(paths)) {
    for (const name of namesOf(placed, words)) {
      if (name in shared) continue;
      shared[name] = placed.parameter;
      references.set(text, { $ref: `#/components/parameters/${name}` });
      break;
    }
  }
  for (const operation of Object.values(paths).flatMap(operationsOf)) {
    operation.parameters = listOf(operation.parameters).map(
      (parameter) => references.get(JSON.stringify(parameter)) ?? parameter,
    );
  }
  return shared;
}

/** Removes lists of parameters with none. */
function dropEmptyLists(parts: readonly Json[]): void {
  for (const part of parts) {
    if (listOf(part.parameters).length === 0) delete part.parameters;
  }
}

/** Moves parameters that every operation of a path takes to the path. */
export function liftParameters(paths: Json): void {
  for (const item of Object.values(paths).filter(isMap)) {
    liftCommon(item);
    dropEmptyLists([item, ...operationsOf(item)]);
  }
}

function liftCommon(item: Json): void {
  const operations = operationsOf(item);
  const [first = [], ...others] = operations.map(({ parameters }) =>
    listOf(parameters).map((parameter) => JSON.stringify(parameter)),
  );
  if (others.length === 0) return;
  const common = new Set(first.filter((text) => others.every((each) => each.includes(text))));
  for (const operation of operations) {
    operation.parameters = listOf(operation.parameters).filter(
      (parameter) => !common.has(JSON.stringify(parameter)),
    );
  }
  item.parameters = [...common].map((text) => JSON.parse(text));
}

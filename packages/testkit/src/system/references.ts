import type { Example, Place } from './examples.ts';
import { type Field, fieldsIn, fieldsOfPart, type Operation } from './operations.ts';

/** Names of fields that name records, or look as if they did. */
const looksLikeReference = /^(ids?|created_by|.*_ids?)$/;

const nameOf = ({ path }: Field): string => String(path.findLast((key) => typeof key === 'string'));

/**
 * Places of an operation that could name a record and of which its example does not say what they
 * are. The document marks references by an example such as `cust_01KA…`; names tell the rest.
 */
export function unclassifiedPlaces(operation: Operation, example: Example | undefined): string[] {
  const parts = {
    path: fieldsOfPart(operation.pathParameters),
    query: fieldsOfPart(operation.query),
    body: operation.body ? fieldsIn(operation.body) : [],
  };
  const known = new Set<string>([
    ...Object.keys(example?.names ?? {}),
    ...Object.keys(example?.filters ?? {}),
    ...(example?.texts ?? []),
  ]);
  return Object.entries(parts).flatMap(([part, fields]) =>
    fields
      // The items of a list stand for the list itself.
      .filter(({ path }) => typeof path.at(-1) === 'string')
      .filter((field) => part === 'path' || isReference(field))
      .map(({ path }) => `${part}.${path.join('.')}` as Place)
      .filter((place) => !known.has(place))
      .map((place) => `${operation.key} ${place}`),
  );
}

const isReference = (field: Field): boolean =>
  looksLikeReference.test(nameOf(field)) ||
  field.schemas.some(({ example }) => /^[a-z]+_01KA0+$/.test(String(example)));

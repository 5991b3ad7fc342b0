/** The parsed parts of a request. */
export interface ParsedParts {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** Tells whether a value is an object of JSON: neither null nor a list. */
export const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Adds a part's members; a name that is already taken gets a prefix, so that no value hides another. */
function add(into: Record<string, unknown>, values: unknown, part: string): void {
  if (!isMap(values)) return;
  for (const name of Object.keys(values)) {
    into[Object.hasOwn(into, name) ? `${part}.${name}` : name] = values[name];
  }
}

/**
 * The fields of a request by name, for its digest: see `BeginRequest.fields`. The idempotency key is
 * left out, because it may come in a header once and in the body the next time.
 */
export function fieldsOf({ params, query, body }: ParsedParts): Fields {
  const fields: Record<string, unknown> = {};
  if (isMap(body)) add(fields, body, 'body');
  else if (body !== undefined) fields.body = body;
  delete fields.idempotency_key;
  add(fields, query, 'query');
  add(fields, params, 'path');
  return fields;
}

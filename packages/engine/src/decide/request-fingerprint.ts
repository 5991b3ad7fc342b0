import { hashOf, Problem, sha256 } from '@counterfoil/kernel';
import type { RequestFingerprint } from '../log/types.ts';

const digestLength = 16;

/**
 * The identity of a request with an idempotency key: the key in the scope of its operation (method
 * and path with ids; tenant and environment are in the stream name), and a digest of each field.
 * Fields are compared after parsing, so that "1.0" and "1", or a default and its absence, are equal.
 */
export function requestFingerprint(
  operation: string,
  idempotencyKey: string,
  fields: Readonly<Record<string, unknown>>,
): RequestFingerprint {
  const digests = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, hashOf(value).slice(0, digestLength)] as const);
  return {
    key: sha256(`${operation}\n${idempotencyKey}`).slice(0, 32),
    fields: Object.fromEntries(digests),
  };
}

/** Names of the fields in which two requests differ, in order. */
function differingFields(first: RequestFingerprint, second: RequestFingerprint): string[] {
  const names = new Set([...Object.keys(first.fields), ...Object.keys(second.fields)]);
  return [...names].filter((name) => first.fields[name] !== second.fields[name]).sort();
}

/** Throws `idempotency_conflict` when the key was used with another body (D30). */
export function assertSameRequest(
  recorded: RequestFingerprint,
  repeated: RequestFingerprint,
): void {
  const fields = differingFields(recorded, repeated);
  if (fields.length === 0) return;
  throw new Problem(
    'idempotency_conflict',
    `This idempotency key was already used with another value of ${fields.join(', ')}. ` +
      'Send the same body again, or a new key.',
    { details: { fields } },
  );
}

import { hash } from 'node:crypto';
import { canonicalJson, Problem } from '@counterfoil/kernel';
import type { RequestFingerprint } from '../log/types.ts';

/** The beginning of a SHA-256 in base64url, of which each character has six bits. */
const digest = (text: string, bits: number): string =>
  hash('sha256', text, 'base64url').slice(0, Math.ceil(bits / 6));

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
    .map(([name, value]) => [name, digest(canonicalJson(value), 48)] as const);
  return {
    key: digest(`${operation}\n${idempotencyKey}`, 128),
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

import { createHmac } from 'node:crypto';
import { secretBytes } from './secret.ts';

/** What a signature covers. The body is the exact bytes that are sent. */
export interface Signable {
  /** The id of the event: the same at every attempt, so that receivers can tell repetitions. */
  readonly id: string;
  /** Seconds since 1970 of this attempt; receivers refuse old ones as a replay. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}

/**
 * The signature of a message (Standard Webhooks 1.0.0, `v1`): HMAC-SHA256 over
 * `id.timestamp.body`. Throws a TypeError when the secret is none.
 */
export function signature({ id, timestamp, body }: Signable, secret: string): string {
  const key = secretBytes(secret);
  if (!key) throw new TypeError('The signing secret is malformed');
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
  return `v1,${mac.digest('base64')}`;
}

/** The three headers of a signed message; several secrets give several signatures. */
export const signedHeaders = (
  message: Signable,
  secrets: readonly string[],
): Readonly<Record<string, string>> => ({
  'webhook-id': message.id,
  'webhook-timestamp': String(message.timestamp),
  'webhook-signature': secrets.map((secret) => signature(message, secret)).join(' '),
});

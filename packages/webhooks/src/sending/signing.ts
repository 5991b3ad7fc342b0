import { createHmac, sign } from 'node:crypto';
import { privateKeyOf, secretBytes } from '../endpoint/secret.ts';

/** The content that a signature covers. The body is the exact bytes that are sent. */
export interface Signable {
  /** The id of the event: the same at every attempt, so that receivers can tell repetitions. */
  readonly id: string;
  /** Seconds since 1970 of this attempt; receivers refuse old ones as a replay. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}

/**
 * The signature of a message (Standard Webhooks 1.0.0) over `id.timestamp.body`: HMAC-SHA256 as
 * `v1` under a secret (`whsec_…`), Ed25519 as `v1a` under a private key (`whsk_…`). Throws a
 * TypeError when the text is neither.
 */
export function signature({ id, timestamp, body }: Signable, secret: string): string {
  const head = `${id}.${timestamp}.`;
  const key = secretBytes(secret);
  if (key) return `v1,${createHmac('sha256', key).update(head).update(body).digest('base64')}`;
  const privateKey = privateKeyOf(secret);
  if (!privateKey) throw new TypeError('The signing secret is malformed');
  const signed = sign(null, Buffer.concat([Buffer.from(head), body]), privateKey);
  return `v1a,${signed.toString('base64')}`;
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

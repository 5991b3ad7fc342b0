import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';

const prefix = 'whsec_';

/** Bytes of randomness in a secret that the service makes. */
export const secretEntropyBytes = 32;

const privatePrefix = 'whsk_';
const publicPrefix = 'whpk_';
/** The DER encoding before the 32 bytes of an Ed25519 key (RFC 8410). */
const privateKeyHead = Buffer.from('302e020100300506032b657004220420', 'hex');
const seedLength = 32;

/** The text of a signing secret (Standard Webhooks): `whsec_` and base64. Pure. */
export const secretOf = (entropy: Uint8Array): string =>
  `${prefix}${Buffer.from(entropy).toString('base64')}`;

/** The form of a secret: 24 to 64 bytes in base64. */
const secretText =
  /^whsec_(?:(?:[A-Za-z\d+/]{4}){8,20}(?:[A-Za-z\d+/][AQgw]==|[A-Za-z\d+/]{2}[AEIMQUYcgkosw048]=)?|(?:[A-Za-z\d+/]{4}){21}(?:[A-Za-z\d+/][AQgw]==)?)$/;

/** The key bytes of a secret, or null when the text is no secret of 24 to 64 bytes. */
export const secretBytes = (secret: string): Buffer | null =>
  secretText.test(secret) ? Buffer.from(secret.slice(prefix.length), 'base64') : null;

/** Tells whether a text is a signing secret of 24 to 64 bytes. */
export const isSecret = (text: string): boolean => secretText.test(text);

/** A signing secret that a caller brings along. */
export const secretSchema = z
  .string()
  .regex(secretText, `must be "${prefix}" followed by 24 to 64 bytes in base64`)
  .meta({ description: 'Signing secret; left out, the service makes one' });

/** The text of a private Ed25519 key (Standard Webhooks): `whsk_` and base64 of its seed. Pure. */
export const privateKeyText = (seed: Uint8Array): string =>
  `${privatePrefix}${Buffer.from(seed.subarray(0, seedLength)).toString('base64')}`;

/** The key that a text of `privateKeyText` stands for; null for any other text. */
export function privateKeyOf(text: string): KeyObject | null {
  if (!text.startsWith(privatePrefix)) return null;
  const seed = Buffer.from(text.slice(privatePrefix.length), 'base64');
  if (seed.length !== seedLength) return null;
  const key = Buffer.concat([privateKeyHead, seed]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}

/**
 * Returns the public key of a private one, by which receivers check signatures: `whpk_` and base64.
 * Null for other texts.
 */
export function publicKeyText(text: string): string | null {
  const key = privateKeyOf(text);
  if (!key) return null;
  const encoded = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return `${publicPrefix}${encoded.subarray(-seedLength).toString('base64')}`;
}

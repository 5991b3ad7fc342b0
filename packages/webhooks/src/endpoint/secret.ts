import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';

const prefix = 'whsec_';
const secretLength = { minimum: 24, maximum: 64 } as const;

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

/** The key bytes of a secret, or null when the text is no secret of 24 to 64 bytes. */
export function secretBytes(secret: string): Buffer | null {
  if (!secret.startsWith(prefix)) return null;
  const text = secret.slice(prefix.length);
  const bytes = Buffer.from(text, 'base64');
  const fits = bytes.length >= secretLength.minimum && bytes.length <= secretLength.maximum;
  return fits && bytes.toString('base64') === text ? bytes : null;
}

/** A signing secret that a caller brings along. */
export const secretSchema = z
  .string()
  .max(128)
  .refine(
    (text) => secretBytes(text) !== null,
    `must be "${prefix}" followed by 24 to 64 bytes in base64`,
  )
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

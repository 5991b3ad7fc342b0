import { z } from 'zod';

const prefix = 'whsec_';
const secretLength = { minimum: 24, maximum: 64 } as const;

/** Bytes of randomness in a secret that the service makes. */
export const secretEntropyBytes = 32;

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

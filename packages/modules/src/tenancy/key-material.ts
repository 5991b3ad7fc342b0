import { createHmac } from 'node:crypto';
import { type Brand, type EnvironmentId, type KeyId, sha256 } from '@counterfoil/kernel';

/** The secret of the server from which API keys are made: 32 bytes that no log ever holds. */
export type KeyMaterial = Brand<Uint8Array, 'KeyMaterial'>;

const hexadecimal = /^[0-9a-fA-F]{64}$/;
const base64 = /^[A-Za-z0-9+/_-]{43}=?$/;

/**
 * Key material from its text: 32 bytes as 64 hexadecimal digits or in base64, plain or url-safe.
 * Throws an Error that says so, and does not repeat the text, on anything else.
 */
export function readKeyMaterial(text: string): KeyMaterial {
  if (hexadecimal.test(text)) return Buffer.from(text, 'hex') as Uint8Array as KeyMaterial;
  if (base64.test(text)) return Buffer.from(text, 'base64') as Uint8Array as KeyMaterial;
  throw new Error(
    'The secret key must be 32 bytes, as 64 hexadecimal digits or in base64. ' +
      'Make one with: openssl rand -hex 32',
  );
}

/**
 * The API key that belongs to a key id: `sk_` and 256 bits that nobody can compute without the
 * server's secret. It follows from the id, so that the answer of a repeated request can show the
 * same key again although the key itself is stored nowhere.
 */
export const deriveKey = (
  material: KeyMaterial,
  environmentId: EnvironmentId,
  keyId: KeyId,
): string => {
  const code = createHmac('sha256', material).update(`api_key\n${environmentId}\n${keyId}`);
  return `sk_${code.digest('base64url')}`;
};

/**
 * Returns what is stored of a key: the SHA-256 of the whole of it, and a mask to recognise it by.
 */
export const fingerprintOf = (
  key: string,
): { readonly hash: string; readonly display_id: string } => ({
  hash: sha256(key),
  display_id: `${key.slice(0, 5)}***${key.slice(-2)}`,
});

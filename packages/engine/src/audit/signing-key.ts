import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';

/** Signs statements that others can check with the public key alone. */
export interface SigningKey {
  /** The first 16 hexadecimal digits of the SHA-256 of the public key (DER, SPKI). */
  readonly keyId: string;
  /** The public key as PEM. */
  readonly publicKey: string;
  /** Ed25519 signature of a text (UTF-8), as 128 hexadecimal digits. The same text gives the same. */
  readonly sign: (text: string) => string;
}

/** The bytes before the 32 of an Ed25519 key in PKCS #8 (RFC 8410). */
const privateKeyHeader = Buffer.from('302e020100300506032b657004220420', 'hex');
const seedLength = 32;

/** The Ed25519 key of a seed of 32 secret bytes. Throws a RangeError on any other length. */
export function ed25519Key(seed: Uint8Array): KeyObject {
  if (seed.length !== seedLength) throw new RangeError(`a seed has ${seedLength} bytes`);
  const der = Buffer.concat([privateKeyHeader, seed]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

/** The signing key of a seed: see `ed25519Key`. */
export function signingKeyFrom(seed: Uint8Array): SigningKey {
  const privateKey = ed25519Key(seed);
  const publicKey = createPublicKey(privateKey);
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  return {
    keyId: createHash('sha256').update(spki).digest('hex').slice(0, 16),
    publicKey: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('hex'),
  };
}

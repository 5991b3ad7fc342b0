import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;
const nameBytes = 8;

/** Seals the messages of an installation's members, and opens them. */
export interface Sealing {
  /** The name of the installation in subjects. It says nothing about the key. */
  readonly installation: string;
  /** Seals a value that JSON can carry, for one subject alone. */
  seal(subject: string, value: unknown): Uint8Array;
  /** The value of a message; null for one that was not sealed for this subject by this installation. */
  open(subject: string, bytes: Uint8Array): unknown;
}

/**
 * Sealing by a secret that only the members have, so that whoever else may speak to the broker can neither
 * read what is handed over nor have anything carried out. AES-256-GCM, with the subject as associated data.
 */
export function createSealing(secret: Uint8Array): Sealing {
  const derive = (purpose: string, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', purpose, length));
  // As an object: from bytes, each message would make one.
  const key = createSecretKey(derive('members sealing v1', keyBytes));
  return {
    installation: derive('members name v1', nameBytes).toString('hex'),
    seal(subject, value) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(subject));
      const text = cipher.update(JSON.stringify(value), 'utf8');
      return Buffer.concat([nonce, text, cipher.final(), cipher.getAuthTag()]);
    },
    open(subject, bytes) {
      if (bytes.byteLength < nonceBytes + tagBytes) return null;
      try {
        const nonce = bytes.subarray(0, nonceBytes);
        const end = bytes.byteLength - tagBytes;
        const decipher = createDecipheriv(algorithm, key, nonce)
          .setAAD(Buffer.from(subject))
          .setAuthTag(bytes.subarray(end));
        const text = decipher.update(bytes.subarray(nonceBytes, end));
        return JSON.parse(Buffer.concat([text, decipher.final()]).toString('utf8'));
      } catch {
        return null;
      }
    },
  };
}

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';

/** A text that only the holder of the key can read, as it stands in events and read models. */
export const sealedSchema = z.object({
  /** Names the key that opens it, so that a change of key can find what is still under the old. */
  key_id: z.string(),
  nonce: z.string(),
  ciphertext: z.string(),
});
export type Sealed = z.output<typeof sealedSchema>;

/** Encrypts texts for the log, and opens them again. */
export interface Sealer {
  readonly keyId: string;
  /**
   * Encrypts a text. `context` says what the text is and whose; the sealed text opens only under
   * the same context, so that nobody can put one record's secret into another record.
   * Draws a nonce from the operating system: twice the same text gives two different results.
   */
  seal(text: string, context: string): Sealed;
  /** The text again. Throws `SealBroken` on another key, another context or changed bytes. */
  open(sealed: Sealed, context: string): string;
}

/** A sealed text cannot be opened: it was sealed under another key or has been tampered with. */
export class SealBroken extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SealBroken';
  }
}

const algorithm = 'aes-256-gcm';
const keyLength = 32;
const nonceLength = 12;
const tagLength = 16;

function readKey(key: string): Buffer {
  const bytes = Buffer.from(key, 'base64');
  if (bytes.length !== keyLength || bytes.toString('base64') !== key) {
    throw new TypeError(`The secret key must be ${keyLength} bytes in base64`);
  }
  return bytes;
}

/**
 * A sealer (AES-256-GCM) for a key of 32 bytes in base64. The key id is a hash of the key and
 * tells nothing about it. Throws a TypeError on any other key.
 */
export function createSealer(key: string): Sealer {
  const bytes = readKey(key);
  const keyId = createHash('sha256').update('sealing key id').update(bytes).digest('hex');
  const shortKeyId = keyId.slice(0, 16);
  return {
    keyId: shortKeyId,
    seal(text, context) {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv(algorithm, bytes, nonce, { authTagLength: tagLength });
      cipher.setAAD(Buffer.from(context));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return {
        key_id: shortKeyId,
        nonce: nonce.toString('base64'),
        ciphertext: Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64'),
      };
    },
    open(sealed, context) {
      if (sealed.key_id !== shortKeyId) {
        throw new SealBroken(`Sealed under key ${sealed.key_id}, but the key is ${shortKeyId}`);
      }
      return openWith(bytes, sealed, context);
    },
  };
}

function openWith(key: Buffer, sealed: Sealed, context: string): string {
  const bytes = Buffer.from(sealed.ciphertext, 'base64');
  try {
    const nonce = Buffer.from(sealed.nonce, 'base64');
    const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagLength });
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(-tagLength));
    const text = [decipher.update(bytes.subarray(0, -tagLength)), decipher.final()];
    return Buffer.concat(text).toString('utf8');
  } catch (cause) {
    throw new SealBroken(`The sealed text does not open as ${context}`, { cause });
  }
}

import { createPrivateKey, createPublicKey, sign } from 'node:crypto';

/**
 * What a key of NATS stands for, and the byte that its text begins with, so that the first letter of
 * the text says it: O, A or U (https://docs.nats.io, "NKeys").
 */
const kinds = { operator: 14 << 3, account: 0, user: 20 << 3 } as const;
export type NkeyKind = keyof typeof kinds;

/** An Ed25519 key in the form that NATS writes it. */
export interface Nkey {
  /** Its public half, as text: what others know it by. */
  readonly publicKey: string;
  /** Its secret half, as text. */
  readonly seed: string;
  /** Ed25519 signature of a text (UTF-8), in base64url. */
  readonly sign: (text: string) => string;
}

/** What stands before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const privateKeyHeader = Buffer.from('302e020100300506032b657004220420', 'hex');
const seedKind = 18 << 3;
const seedLength = 32;

/** The key of 32 secret bytes. Throws a RangeError on any other length. */
export function nkeyFrom(kind: NkeyKind, secret: Uint8Array): Nkey {
  if (secret.length !== seedLength) throw new RangeError(`a seed has ${seedLength} bytes`);
  const der = Buffer.concat([privateKeyHeader, secret]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const first = kinds[kind];
  // In a seed, the kind is moved by the five bits of one letter, so that both letters can be read.
  const seedHead = [seedKind | (first >> 5), (first & 31) << 3];
  return {
    publicKey: encode([first], spki.subarray(-seedLength)),
    seed: encode(seedHead, secret),
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64url'),
  };
}

function encode(head: readonly number[], content: Uint8Array): string {
  const bytes = Buffer.from([...head, ...content]);
  const checksum = Buffer.alloc(2);
  checksum.writeUInt16LE(crc16(bytes));
  return base32(Buffer.concat([bytes, checksum]));
}

/** CRC-16/XMODEM: polynomial 0x1021, beginning with 0. */
function crc16(bytes: Uint8Array): number {
  let checksum = 0;
  for (const byte of bytes) {
    checksum ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      checksum = (checksum & 0x8000 ? (checksum << 1) ^ 0x1021 : checksum << 1) & 0xffff;
    }
  }
  return checksum;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Base 32 of RFC 4648, without padding. */
function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += letters[(value >> (bits - 5)) & 31];
  }
  return bits === 0 ? text : text + letters[(value << (5 - bits)) & 31];
}

import { hkdfSync } from 'node:crypto';
import { createSealer, type Sealer } from '@counterfoil/webhooks';
import { type KeyMaterial, readKeyMaterial } from './tenancy/index.ts';

/** The secrets that are made from the one secret of the server. */
export interface Secrets {
  readonly keyMaterial: KeyMaterial;
  readonly sealer: Sealer;
  /** Seed of the Ed25519 key that signs checkpoints of the ledger. */
  readonly checkpointSeed: Uint8Array;
  /** Seed of all keys of the event gateway. */
  readonly gatewaySeed: Uint8Array;
  /** The secret of the verification codes on documents. */
  readonly documentSecret: Uint8Array;
  /** The secret of what processes of the api say to one another. */
  readonly membersSecret: Uint8Array;
}

const derivedLength = 32;

/** A key of its own for each purpose, so that no two uses of the secret can meet. */
const deriveFor = (material: KeyMaterial, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', material, '', purpose, derivedLength));

/**
 * The secrets of a process that makes API keys or opens sealed texts, from the text of
 * COUNTERFOIL_SECRET_KEY. Throws an Error for operators when the text is no key.
 */
export function secretsFrom(secretKey: string): Secrets {
  const keyMaterial = readKeyMaterial(secretKey);
  const sealingKey = deriveFor(keyMaterial, 'counterfoil sealing v1');
  return {
    keyMaterial,
    sealer: createSealer(sealingKey.toString('base64')),
    checkpointSeed: deriveFor(keyMaterial, 'counterfoil ledger checkpoints v1'),
    gatewaySeed: deriveFor(keyMaterial, 'counterfoil event gateway v1'),
    documentSecret: deriveFor(keyMaterial, 'counterfoil document codes v1'),
    membersSecret: deriveFor(keyMaterial, 'counterfoil api members v1'),
  };
}

/** Tells whether a text can be the value of COUNTERFOIL_SECRET_KEY. */
export function isSecretKey(text: string): boolean {
  try {
    readKeyMaterial(text);
    return true;
  } catch {
    return false;
  }
}

/** The rule for an operator whose key is none. */
export const secretKeyRule =
  'must be 32 bytes, as 64 hexadecimal digits or in base64; make one with: openssl rand -hex 32';

import { createHmac, createPublicKey, hkdfSync, sign } from 'node:crypto';
import { Prefix } from 'nkeys.js';
import { Codec } from 'nkeys.js/lib/codec.js';
import { ed25519Key } from '../audit/signing-key.ts';
import type { GatewayAccess } from '../define/event-gateway.ts';

/** An Ed25519 key in the form that NATS writes it (https://docs.nats.io, "NKeys"). */
export interface Nkey {
  /** The public half, as text, by which others know the key. */
  readonly publicKey: string;
  /** The secret half, as text. */
  readonly seed: string;
  /** The Ed25519 signature of a text (UTF-8), in base64url. */
  readonly sign: (text: string) => string;
}

const keyBytes = 32;
/**
 * The key of 32 secret bytes. Node makes and signs, because the library does so in JavaScript and takes
 * nine times as long (ADR 22). Throws on any other length.
 */
export function nkeyFrom(kind: Prefix, secret: Uint8Array): Nkey {
  const privateKey = ed25519Key(secret);
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return {
    publicKey: textOf(Codec.encode(kind, spki.subarray(-keyBytes))),
    seed: textOf(Codec.encodeSeed(kind, secret)),
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64url'),
  };
}

const textOf = (ascii: Uint8Array): string => Buffer.from(ascii).toString('latin1');

/** All keys of an installation's event gateway. The same secret gives the same keys, so none is stored. */
export interface GatewayKeys {
  /** Signs accounts. Its holder decides who may do what at the gateway. */
  readonly operator: Nkey;
  /** Account and user of the processes that tell the gateway about accounts. */
  readonly system: Nkey;
  readonly systemUser: Nkey;
  /** The account that is linked with the broker, and that shares with all others. */
  readonly service: Nkey;
  /** The account of one system outside. It signs no users, so that the system's credentials can be replaced. */
  account(access: AccessIdentity): Nkey;
  /** Signs the user of one generation of a system's credentials. */
  signer(access: AccessIdentity, generation: number): Nkey;
  user(access: AccessIdentity, generation: number): Nkey;
  /** Marks a text as one of this installation: nobody else can make the mark. Letters that a subject takes. */
  mark(text: string): string;
}

type AccessIdentity = Pick<GatewayAccess, 'name' | 'scope'>;

/** 132 bits. */
const markLetters = 22;

/** The keys that follow from a secret by HKDF (RFC 5869), each under the name of its purpose. */
export function gatewayKeys(secret: Uint8Array): GatewayKeys {
  const bytesFor = (purpose: string): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', secret, '', purpose, keyBytes));
  const derive = (kind: Prefix, purpose: string): Nkey => nkeyFrom(kind, bytesFor(purpose));
  const markKey = bytesFor('marks of sent facts');
  const placeOf = ({ name, scope }: AccessIdentity): string =>
    `${scope.tenantId}/${scope.environmentId}/${name}`;
  return {
    operator: derive(Prefix.Operator, 'operator'),
    system: derive(Prefix.Account, 'system'),
    systemUser: derive(Prefix.User, 'system'),
    service: derive(Prefix.Account, 'service'),
    account: (access) => derive(Prefix.Account, `account ${placeOf(access)}`),
    signer: (access, generation) =>
      derive(Prefix.Account, `signer ${placeOf(access)} ${generation}`),
    user: (access, generation) => derive(Prefix.User, `user ${placeOf(access)} ${generation}`),
    mark: (text) =>
      createHmac('sha256', markKey).update(text).digest('base64url').slice(0, markLetters),
  };
}

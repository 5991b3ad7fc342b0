import { hkdfSync } from 'node:crypto';
import type { ReaderAccess } from '../define/event-gateway.ts';
import { type Nkey, type NkeyKind, nkeyFrom } from './nkey.ts';

/** All keys of a gateway. The same seed gives the same ones, so that none has to be kept. */
export interface GatewayKeys {
  /** Signs accounts. Who has it decides who may do what at the gateway. */
  readonly operator: Nkey;
  /** Account and user of whoever tells the gateway about accounts. */
  readonly system: Nkey;
  readonly systemUser: Nkey;
  /** Account that is linked with the broker, and of which all others get their share. */
  readonly service: Nkey;
  /** Account of one reader. It signs nobody, so that its credentials can be replaced. */
  account(access: ReaderIdentity): Nkey;
  /** Signs the user of one generation of a reader's credentials. */
  signer(access: ReaderIdentity, generation: number): Nkey;
  user(access: ReaderIdentity, generation: number): Nkey;
}

type ReaderIdentity = Pick<ReaderAccess, 'name' | 'scope'>;

const keyLength = 32;

/** The keys that follow from a secret seed. */
export function gatewayKeys(seed: Uint8Array): GatewayKeys {
  const derive = (kind: NkeyKind, purpose: string): Nkey =>
    nkeyFrom(kind, new Uint8Array(hkdfSync('sha256', seed, '', purpose, keyLength)));
  const placeOf = ({ name, scope }: ReaderIdentity): string =>
    `${scope.tenantId}/${scope.environmentId}/${name}`;
  return {
    operator: derive('operator', 'operator'),
    system: derive('account', 'system'),
    systemUser: derive('user', 'system'),
    service: derive('account', 'service'),
    account: (access) => derive('account', `account ${placeOf(access)}`),
    signer: (access, generation) => derive('account', `signer ${placeOf(access)} ${generation}`),
    user: (access, generation) => derive('user', `user ${placeOf(access)} ${generation}`),
  };
}

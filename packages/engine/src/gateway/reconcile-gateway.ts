import { LRUCache } from 'lru-cache';
import { inParallel } from '../consume/run-forever.ts';
import type { GatewayAccess, WantedAccess } from '../define/event-gateway.ts';
import { accountClaims, removalClaims, secondsOfClaims, serviceClaims } from './claims.ts';
import type { GatewayKeys } from './keys.ts';
import type { GatewayRequests } from './nats-gateway-requests.ts';

/**
 * Milliseconds after which an account that was in order is looked up again: another process may have
 * been held up, and have told the gateway something older since.
 */
const againMilliseconds = 300_000;
const rememberedMaximum = 10_000;

/** The claims of accounts that have lately been found in order, since that costs a request for each. */
export type InOrder = LRUCache<string, string>;

export const rememberOrder = (): InOrder =>
  new LRUCache({ max: rememberedMaximum, ttl: againMilliseconds });

/** Accounts looked up at once. The gateway writes one after the other, so more would time out. */
const atOnce = 20;

/**
 * Brings the gateway's accounts to the wanted ones. An account that is in order costs no write, of which
 * each takes the gateway some hundredths of a second.
 */
export async function reconcileGateway(
  keys: GatewayKeys,
  requests: Pick<GatewayRequests, 'list' | 'lookUp' | 'update' | 'remove'>,
  inOrder: InOrder,
  { kept, removed }: WantedAccess,
): Promise<void> {
  const known = await requests.list();
  const bring = async (account: string, claims: string): Promise<void> => {
    if (known.has(account)) {
      if (inOrder.get(account) === claims) return;
      const there = await requests.lookUp(account);
      if (isAhead(there, claims)) return;
      if (there !== claims) await requests.update(claims);
    } else {
      await requests.update(claims);
    }
    inOrder.set(account, claims);
  };
  await bring(keys.service.publicKey, serviceClaims(keys));
  const accountOf = (access: GatewayAccess): string => keys.account(access).publicKey;
  await inParallel(kept, atOnce, (access) => bring(accountOf(access), accountClaims(keys, access)));
  for (const access of removed) {
    if (known.has(accountOf(access))) await requests.remove(removalClaims(keys, access));
  }
}

/** The longest that a follower of the log may be behind the process that has just changed it. */
const behindSeconds = 60;

/**
 * True when the gateway was told just now of a change that this process has not seen yet. Claims of the
 * future that are older than that are not of this log, which may have been restored.
 */
function isAhead(there: string, wanted: string): boolean {
  const toldAt = secondsOfClaims(there);
  return toldAt > secondsOfClaims(wanted) && Date.now() / 1000 - toldAt < behindSeconds;
}

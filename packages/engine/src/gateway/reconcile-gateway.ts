import type { ReaderAccess, WantedAccess } from '../define/event-gateway.ts';
import { accountClaims, removalClaims, secondsOfClaims, serviceClaims } from './claims.ts';
import type { GatewayKeys } from './keys.ts';
import type { GatewayRequests } from './nats-gateway-requests.ts';

/** What has been found in order lately. */
export interface InOrder {
  has(account: string, claims: string): boolean;
  add(account: string, claims: string): void;
}

/**
 * What was found in order is looked at again after this long: another process may have been held up,
 * and have told something older after it.
 */
const againMilliseconds = 300_000;

/** Remembers what has been found in order. It costs a question for each account to find that out. */
export function rememberOrder(): InOrder {
  const found = new Map<string, { readonly claims: string; readonly at: number }>();
  return {
    has: (account, claims) => {
      const last = found.get(account);
      return last?.claims === claims && performance.now() - last.at < againMilliseconds;
    },
    add: (account, claims) => void found.set(account, { claims, at: performance.now() }),
  };
}

/** Accounts that are looked at at once. The gateway writes one after the other, so more would time out. */
const atOnce = 20;

/**
 * Brings the gateway to what is wanted. What is as it should be costs it no write: it needs some hundredths
 * of a second for each.
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
      if (inOrder.has(account, claims)) return;
      const there = await requests.lookUp(account);
      if (isAhead(there, claims)) return;
      if (there !== claims) await requests.update(claims);
    } else {
      await requests.update(claims);
    }
    inOrder.add(account, claims);
  };
  await bring(keys.service.publicKey, serviceClaims(keys));
  const accountOf = (access: ReaderAccess): string => keys.account(access).publicKey;
  for (let first = 0; first < kept.length; first += atOnce) {
    const together = kept.slice(first, first + atOnce);
    await Promise.all(
      together.map((access) => bring(accountOf(access), accountClaims(keys, access))),
    );
  }
  for (const access of removed) {
    if (known.has(accountOf(access))) await requests.remove(removalClaims(keys, access));
  }
}

/** How long whoever follows the log may be behind somebody who has just changed it. */
const behindSeconds = 60;

/**
 * Whether the gateway was told just now of a change that we have not seen yet. Later ones that are older
 * than that are not of this log, which may have been restored.
 */
function isAhead(there: string, wanted: string): boolean {
  const toldAt = secondsOfClaims(there);
  return toldAt > secondsOfClaims(wanted) && Date.now() / 1000 - toldAt < behindSeconds;
}

import { BrokenInvariant, Problem } from '@counterfoil/kernel';
import type { EventEdge, ReaderAccess, WantedAccess } from '../define/event-edge.ts';
import type { Log } from '../operations/log.ts';
import type { Nats, NatsSession } from '../relay/nats-connection.ts';
import { unlessAborted } from '../relay/pause.ts';
import {
  accountClaims,
  liveSubject,
  readerCredentials,
  removalClaims,
  serviceClaims,
} from './edge-claims.ts';
import type { EdgeKeys } from './edge-keys.ts';
import { type EdgeRequests, edgeRequests } from './nats-edge-requests.ts';

interface EdgeOptions {
  /** A connection as the system user. */
  readonly nats: Nats;
  readonly keys: EdgeKeys;
  /** Where downstream systems find the edge. */
  readonly urls: readonly string[];
  readonly log: Log;
}

/** How long one request to the edge may take before the caller is told to try again. */
const requestMilliseconds = 5_000;
/**
 * What was found in order is looked at again after this long: another process may have been held up,
 * and have told something older after it.
 */
const againMilliseconds = 300_000;

/** The edge over a connection to one of its servers. */
export function natsEdge({ nats, keys, urls, log }: EdgeOptions): EventEdge {
  const ask = async (act: (requests: EdgeRequests) => Promise<void>): Promise<void> => {
    const signal = AbortSignal.timeout(requestMilliseconds);
    try {
      const session = await nats.session(signal);
      await unlessAborted(act(edgeRequests(session, requestMilliseconds)), session.lost);
    } catch (error) {
      if (error instanceof BrokenInvariant) throw error;
      log.warn({ err: error }, 'the NATS edge cannot be told');
      throw new Problem('service_unavailable', 'The NATS edge cannot be told. Retry shortly.', {
        retryAfterSeconds: 1,
      });
    }
  };
  const inOrder = rememberSessions();
  return {
    urls,
    liveSubject,
    credentialsOf: (access) => {
      const { credentials } = access;
      if (!credentials) throw new BrokenInvariant(`${access.name} has no credentials`);
      return readerCredentials(keys, { ...access, credentials });
    },
    keepAccess: (access) => ask((requests) => requests.update(accountClaims(keys, access))),
    removeAccess: (access) => ask((requests) => requests.remove(removalClaims(keys, access))),
    reconcile: (wanted) =>
      ask((requests) => reconcile(keys, requests, inOrder(requests.session), wanted)),
  };
}

async function reconcile(
  keys: EdgeKeys,
  requests: EdgeRequests,
  inOrder: InOrder,
  { kept, removed }: WantedAccess,
): Promise<void> {
  const known = await requests.list();
  const bring = async (account: string, claims: string): Promise<void> => {
    if (known.has(account) && inOrder.has(account, claims)) return;
    const isThere = known.has(account) && (await requests.lookUp(account)) === claims;
    if (!isThere) await requests.update(claims);
    inOrder.add(account, claims);
  };
  await bring(keys.service.publicKey, serviceClaims(keys));
  const accountOf = (access: ReaderAccess): string => keys.account(access).publicKey;
  for (const access of kept) await bring(accountOf(access), accountClaims(keys, access));
  for (const access of removed) {
    if (known.has(accountOf(access))) await requests.remove(removalClaims(keys, access));
  }
}

/** What has been found in order lately. */
interface InOrder {
  has(account: string, claims: string): boolean;
  add(account: string, claims: string): void;
}

/** Remembers for as long as a session lasts: a server that comes back may have lost everything. */
function rememberSessions(): (session: NatsSession) => InOrder {
  const sessions = new WeakMap<NatsSession, InOrder>();
  const remember = (): InOrder => {
    const found = new Map<string, { readonly claims: string; readonly at: number }>();
    return {
      has: (account, claims) => {
        const last = found.get(account);
        return last?.claims === claims && performance.now() - last.at < againMilliseconds;
      },
      add: (account, claims) => void found.set(account, { claims, at: performance.now() }),
    };
  };
  return (session) => {
    const known = sessions.get(session) ?? remember();
    sessions.set(session, known);
    return known;
  };
}

import { BrokenInvariant, Problem } from '@counterfoil/kernel';
import type { EventEdge } from '../define/event-edge.ts';
import type { Nats, NatsSession } from '../nats/nats-connection.ts';
import type { Log } from '../operations/log.ts';
import { unlessAborted } from '../relay/pause.ts';
import { accountClaims, liveSubject, readerCredentials, removalClaims } from './edge-claims.ts';
import type { EdgeKeys } from './edge-keys.ts';
import { type EdgeRequests, edgeRequests } from './nats-edge-requests.ts';
import { type InOrder, reconcileEdge, rememberOrder } from './reconcile-edge.ts';

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
      ask((requests) => reconcileEdge(keys, requests, inOrder(requests.session), wanted)),
  };
}

/** What was found in order counts as long as a session: a server that comes back may have lost all. */
function rememberSessions(): (session: NatsSession) => InOrder {
  const sessions = new WeakMap<NatsSession, InOrder>();
  return (session) => {
    const known = sessions.get(session) ?? rememberOrder();
    sessions.set(session, known);
    return known;
  };
}

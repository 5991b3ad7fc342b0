import { BrokenInvariant, Problem } from '@counterfoil/kernel';
import type { EventGateway } from '../define/event-gateway.ts';
import type { Nats, NatsSession } from '../nats/nats-connection.ts';
import type { Log } from '../operations/log.ts';
import { unlessAborted } from '../relay/pause.ts';
import { accountClaims, liveSubject, readerCredentials, removalClaims } from './claims.ts';
import type { GatewayKeys } from './keys.ts';
import { type GatewayRequests, gatewayRequests } from './nats-gateway-requests.ts';
import { type InOrder, reconcileGateway, rememberOrder } from './reconcile-gateway.ts';

interface GatewayOptions {
  /** A connection as the system user. */
  readonly nats: Nats;
  readonly keys: GatewayKeys;
  /** Where downstream systems find the gateway. */
  readonly urls: readonly string[];
  readonly log: Log;
}

/** How long one request to the gateway may take before the caller is told to try again. */
const requestMilliseconds = 5_000;
/** The gateway over a connection to one of its servers. */
export function natsGateway({ nats, keys, urls, log }: GatewayOptions): EventGateway {
  const ask = async (act: (requests: GatewayRequests) => Promise<void>): Promise<void> => {
    const signal = AbortSignal.timeout(requestMilliseconds);
    try {
      const session = await nats.session(signal);
      await unlessAborted(act(gatewayRequests(session, requestMilliseconds)), session.lost);
    } catch (error) {
      if (error instanceof BrokenInvariant) throw error;
      log.warn({ err: error }, 'the event gateway cannot be told');
      throw new Problem('service_unavailable', 'The event gateway cannot be told. Retry shortly.', {
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
      ask((requests) => reconcileGateway(keys, requests, inOrder(requests.session), wanted)),
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

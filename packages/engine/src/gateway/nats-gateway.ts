import { BrokenInvariant, Problem } from '@counterfoil/kernel';
import { unlessAborted } from '../consume/run-forever.ts';
import type { EventGateway } from '../define/event-gateway.ts';
import { connectNats, type Nats, type NatsSession } from '../nats/nats-connection.ts';
import type { Log } from '../operations/log.ts';
import { accessCredentials, accountClaims, removalClaims, systemCredentials } from './claims.ts';
import { type GatewayKeys, gatewayKeys } from './keys.ts';
import { type GatewayRequests, gatewayRequests } from './nats-gateway-requests.ts';
import { liveSubject } from './reach.ts';
import { type InOrder, reconcileGateway, rememberOrder } from './reconcile-gateway.ts';

interface GatewayOptions {
  /** The address for this process: `nats://` or `tls://` addresses, separated by commas. */
  readonly url: string;
  /** The addresses for downstream systems; the same when absent. */
  readonly publicUrl: string | undefined;
  /** The secret that all of the gateway's keys follow from. */
  readonly seed: Uint8Array;
  /** Shown by the server's monitoring. */
  readonly name: string;
  readonly log: Log;
}

/** The gateway, connected. */
export interface Gateway {
  readonly events: EventGateway;
  /** Throws while there is no connection. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The gateway does not hold up the start for longer: nothing else depends on it. */
const firstWaitMilliseconds = 1_000;
/** The longest that one request to the gateway may take before the caller is told to try again. */
const requestMilliseconds = 5_000;

/**
 * Connects to the gateway, for ever. Resolves also while it is away. Throws a TypeError on a text that is
 * no address.
 */
export async function connectGateway(options: GatewayOptions): Promise<Gateway> {
  const { url, publicUrl, seed, name, log } = options;
  const keys = gatewayKeys(seed);
  const credentials = systemCredentials(keys);
  const nats = await connectNats({ url, name, log, credentials, firstWait: firstWaitMilliseconds });
  const urls = (publicUrl ?? url).split(',').map((address) => address.trim());
  return {
    events: natsGateway(nats, keys, urls, log),
    check: nats.check,
    close: nats.close,
  };
}

/** The gateway over a connection to one of its servers, as the system's user. */
function natsGateway(
  nats: Nats,
  keys: GatewayKeys,
  urls: readonly string[],
  log: Log,
): EventGateway {
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
  // A server that comes back may have lost all accounts, so each session starts over.
  const sessions = new WeakMap<NatsSession, InOrder>();
  return {
    urls,
    liveSubject,
    credentialsOf: (access) => {
      const { credentials } = access;
      if (!credentials) throw new BrokenInvariant(`${access.name} has no credentials`);
      return accessCredentials(keys, { ...access, credentials });
    },
    keepAccess: (access) => ask((requests) => requests.update(accountClaims(keys, access))),
    removeAccess: (access) => ask((requests) => requests.remove(removalClaims(keys, access))),
    reconcile: (wanted) =>
      ask((requests) => {
        const inOrder = sessions.get(requests.session) ?? rememberOrder();
        sessions.set(requests.session, inOrder);
        return reconcileGateway(keys, requests, inOrder, wanted);
      }),
  };
}

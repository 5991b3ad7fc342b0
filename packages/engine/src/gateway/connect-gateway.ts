import type { EventGateway } from '../define/event-gateway.ts';
import { connectNats } from '../nats/nats-connection.ts';
import type { Log } from '../operations/log.ts';
import { systemCredentials } from './claims.ts';
import { gatewayKeys } from './keys.ts';
import { natsGateway } from './nats-gateway.ts';

interface GatewayConnection {
  /** Where we reach the gateway: `nats://` or `tls://` addresses, separated by commas. */
  readonly url: string;
  /** Where downstream systems reach it; the same when absent. */
  readonly publicUrl: string | undefined;
  /** Seed of all of its keys. */
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

/** Connects to the gateway, for ever. Resolves also when it is away. Throws on an address that is none. */
export async function connectGateway(options: GatewayConnection): Promise<Gateway> {
  const { url, publicUrl, seed, name, log } = options;
  const keys = gatewayKeys(seed);
  const nats = await connectNats({
    url,
    name,
    log,
    credentials: systemCredentials(keys),
    firstWait: firstWaitMilliseconds,
  });
  const urls = (publicUrl ?? url).split(',').map((address) => address.trim());
  return {
    events: natsGateway({ nats, keys, urls, log }),
    check: async () => {
      const { connected, error } = nats.status();
      if (!connected) throw new Error(error ?? 'There is no connection to the event gateway.');
    },
    close: () => nats.close(),
  };
}

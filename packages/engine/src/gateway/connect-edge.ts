import type { EventEdge } from '../define/event-edge.ts';
import { connectNats } from '../nats/nats-connection.ts';
import type { Log } from '../operations/log.ts';
import { systemCredentials } from './edge-claims.ts';
import { edgeKeys } from './edge-keys.ts';
import { natsEdge } from './nats-edge.ts';

interface EdgeConnection {
  /** Where we reach the edge: `nats://` or `tls://` addresses, separated by commas. */
  readonly url: string;
  /** Where downstream systems reach it; the same when absent. */
  readonly publicUrl: string | undefined;
  /** Seed of all of its keys. */
  readonly seed: Uint8Array;
  /** Shown by the server's monitoring. */
  readonly name: string;
  readonly log: Log;
}

/** The edge, connected. */
export interface Edge {
  readonly events: EventEdge;
  /** Throws while there is no connection. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The edge does not hold up the start for longer: nothing else depends on it. */
const firstWaitMilliseconds = 1_000;

/** Connects to the edge, for ever. Resolves also when it is away. Throws on an address that is none. */
export async function connectEdge(options: EdgeConnection): Promise<Edge> {
  const { url, publicUrl, seed, name, log } = options;
  const keys = edgeKeys(seed);
  const nats = await connectNats({
    url,
    name,
    log,
    credentials: systemCredentials(keys),
    firstWait: firstWaitMilliseconds,
  });
  const urls = (publicUrl ?? url).split(',').map((address) => address.trim());
  return {
    events: natsEdge({ nats, keys, urls, log }),
    check: async () => {
      const { connected, error } = nats.status();
      if (!connected) throw new Error(error ?? 'There is no connection to the NATS edge.');
    },
    close: () => nats.close(),
  };
}

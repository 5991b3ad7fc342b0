import { join } from 'node:path';
import { type GatewayKeys, gatewayConfiguration } from '@counterfoil/engine';
import {
  type Kept,
  type LocalServer,
  type LogFile,
  rememberedPorts,
  startEventGateway,
  startEventStore,
  startNats,
  startPostgres,
  superviseServer,
} from '@counterfoil/local';
import type { ServerUrls, Settings } from '../settings.ts';

const restart = { initialDelayMs: 200, maxDelayMs: 5_000 } as const;

/** The three servers: those that the settings name, and local ones for the others. */
export interface Servers {
  readonly urls: ServerUrls;
  /** Undefined beside a NATS that the settings name, unless they name a gateway too. */
  readonly eventGatewayUrl: string | undefined;
  stop(): Promise<void>;
}

/** Starts the servers that the settings do not name, keeps them running, and waits until all answer. */
export async function startServers(
  settings: Settings,
  folder: string,
  gatewayKeys: GatewayKeys,
  log: LogFile,
): Promise<Servers> {
  const names = ['eventStore', 'postgres', 'nats', 'natsLeaf', 'eventGateway'] as const;
  const ports = await rememberedPorts(folder, names);
  const started: Kept<LocalServer>[] = [];
  const local = async (
    given: string | undefined,
    name: string,
    start: () => Promise<LocalServer>,
  ): Promise<string> => {
    if (given) return given;
    const kept = superviseServer({ name, start, restart, log });
    started.push(kept);
    return (await kept.ready).url;
  };
  const hasLocalGateway = !settings.NATS_URL && !settings.EVENT_GATEWAY_URL;
  const [eventStoreUrl, databaseUrl, natsUrl, localGatewayUrl] = await Promise.all([
    local(settings.EVENTSTORE_URL, 'event store', () =>
      startEventStore({ directory: join(folder, 'eventstore'), port: ports.eventStore }),
    ),
    local(settings.DATABASE_URL, 'postgres', () =>
      startPostgres({ directory: join(folder, 'postgres'), port: ports.postgres }),
    ),
    local(settings.NATS_URL, 'nats', () =>
      startNats({ directory: join(folder, 'nats'), port: ports.nats, leafPort: ports.natsLeaf }),
    ),
    hasLocalGateway
      ? local(undefined, 'event gateway', () =>
          startEventGateway({
            directory: join(folder, 'event-gateway'),
            port: ports.eventGateway,
            configuration: (place) =>
              gatewayConfiguration(gatewayKeys, {
                ...place,
                leafUrl: `nats-leaf://127.0.0.1:${ports.natsLeaf}`,
              }),
          }),
        )
      : undefined,
  ]);
  return {
    urls: { eventStoreUrl, databaseUrl, natsUrl },
    eventGatewayUrl: settings.EVENT_GATEWAY_URL ?? localGatewayUrl,
    async stop() {
      await Promise.all(started.map((server) => server.stop()));
    },
  };
}

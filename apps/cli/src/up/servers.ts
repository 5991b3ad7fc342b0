import { join } from 'node:path';
import {
  type Kept,
  type LocalServer,
  type LogFile,
  rememberedPorts,
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
  stop(): Promise<void>;
}

/** Starts what the settings do not name, each kept running, and waits until all answer. */
export async function startServers(
  settings: Settings,
  folder: string,
  log: LogFile,
): Promise<Servers> {
  const ports = await rememberedPorts(folder, ['eventStore', 'postgres', 'nats']);
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
  const [eventStoreUrl, databaseUrl, natsUrl] = await Promise.all([
    local(settings.EVENTSTORE_URL, 'event store', () =>
      startEventStore({ directory: join(folder, 'eventstore'), port: ports.eventStore }),
    ),
    local(settings.DATABASE_URL, 'postgres', () =>
      startPostgres({ directory: join(folder, 'postgres'), port: ports.postgres }),
    ),
    local(settings.NATS_URL, 'nats', () =>
      startNats({ directory: join(folder, 'nats'), port: ports.nats }),
    ),
  ]);
  return {
    urls: { eventStoreUrl, databaseUrl, natsUrl },
    async stop() {
      await Promise.all(started.map((server) => server.stop()));
    },
  };
}

/** Real servers and traffic with known results, for the tests of this folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests use this file.
import { type RunningServer, startEventStoreServer } from '@counterfoil/embedded-eventstore';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests use this file.
import { startNats } from '@counterfoil/local';
import { connect as connectClient, type NatsConnection } from 'nats';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests use this file.
import * as assert from 'uvu/assert';
import { publicStream } from '../define/subject.ts';
import { openEventStore } from '../log/event-store.ts';
import type { EventStore } from '../log/types.ts';
import { connectNats, type Nats } from '../nats/nats-connection.ts';
import { silentLog as log, until } from '../projection/test-world.ts';
import { StreamCache } from '../stream-cache/stream-cache.ts';
import { type Relay, type RelayOptions, startRelay } from './relay.ts';
import type { CheckpointStore, Projected } from './relay-session.ts';
import type { Checkpoint } from './resume.ts';
import { boxEvent, boxPublicEvents, boxStream, chaining } from './test-box.ts';

/** Read models that are always up to date. */
export const projected: Projected = { waitFor: async () => undefined };

export interface Stack {
  readonly directory: string;
  readonly store: EventStore;
  readonly storeUrl: string;
  readonly natsUrl: string;
  /** A connection of its own. This and the next two come to their end with the stack. */
  nats(): Promise<Nats>;
  /** The client itself, to look at the stream without any code of this folder. */
  client(): Promise<NatsConnection>;
  /** A relay with its own connection. */
  relay(options?: Partial<RelayOptions>): Promise<Relay>;
  /** Ends the broker at once with SIGKILL. */
  killBroker(): Promise<void>;
  /** Starts the broker again on the same files and port. */
  startBroker(): Promise<void>;
  /** Ends the event store and starts it again on the same files and port. */
  restartStore(): Promise<void>;
  close(): Promise<void>;
}

/** Starts an event store and a broker in a temporary folder. */
export async function startStack(): Promise<Stack> {
  const directory = await mkdtemp(join(tmpdir(), 'counterfoil-relay-'));
  const brokerDirectory = join(directory, 'nats');
  const storeDirectory = join(directory, 'store');
  let broker = await startNats({ directory: brokerDirectory });
  let server: RunningServer = await startEventStoreServer({ directory: storeDirectory });
  const { url, port } = broker;
  const store = chaining(openEventStore({ url: server.connectionString }));
  const endings: (() => Promise<unknown>)[] = [];
  const nats = async (): Promise<Nats> => {
    const connection = await connectNats({ url, name: 'test', log, firstWait: 100 });
    endings.push(() => connection.close());
    return connection;
  };
  return {
    directory,
    nats,
    client: async () => {
      const client = await connectClient({
        servers: url,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 100,
      });
      endings.push(() => client.close());
      return client;
    },
    relay: async (options = {}) => {
      const relay = startRelay({
        store,
        cache: new StreamCache({ store }),
        nats: options.nats ?? (await nats()),
        publicEvents: [boxPublicEvents],
        projected,
        checkpoint: memoryCheckpoint(),
        log,
        ...options,
      });
      endings.push(() => relay.stop());
      return relay;
    },
    store,
    storeUrl: server.connectionString,
    natsUrl: url,
    killBroker: () => broker.kill(),
    startBroker: async () => {
      broker = await startNats({ directory: brokerDirectory, port });
    },
    restartStore: async () => {
      const { port: storePort } = server;
      await server.close();
      server = await startEventStoreServer({ directory: storeDirectory, port: storePort });
    },
    close: async () => {
      for (const end of endings.reverse()) await end();
      await store.close();
      await server.close();
      await broker.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A checkpoint in memory. */
export const memoryCheckpoint = (
  row: Checkpoint | null = null,
): CheckpointStore & { row: Checkpoint | null } => {
  const kept = {
    row,
    load: async () => kept.row,
    save: async (next: Checkpoint) => {
      kept.row = next;
    },
  };
  return kept;
};

interface BoxBooks {
  readonly id: string;
  revision: number;
  label: string;
  content: number;
}

/** Writes events and keeps books on the messages that have to come of them. */
export interface Traffic {
  /** The messages that the stream has to hold, each as type and body, in order. */
  readonly expected: readonly string[];
  /** Appends so many events, one append after the other. */
  append(events: number, perAppend?: number): Promise<void>;
}

/**
 * Traffic on some boxes. The books are kept by hand and not by the aggregate's fold, so that the
 * two can be compared.
 */
export function createTraffic(store: EventStore, prefix = 'box', boxCount = 7): Traffic {
  const expected: string[] = [];
  const boxes = Array.from({ length: boxCount }, (_, index): BoxBooks => {
    return { id: `${prefix}${index}`, revision: -1, label: '', content: 0 };
  });
  let step = 0;
  const next = (box: BoxBooks) => {
    step += 1;
    box.revision += 1;
    const due = (type: string, more = {}): void => {
      const { id, label, content } = box;
      const body = { event_type: type, box: { id, label, content }, ...more };
      expected.push(JSON.stringify(body));
    };
    if (box.revision === 0) {
      due('box.created');
      return boxEvent(['Made', { id: box.id }]);
    }
    if (step % 11 === 0) return boxEvent(['Watched']);
    if (step % 5 === 0) {
      const lost = box.content;
      box.content = 0;
      due('box.updated');
      due('box.content.emptied', { content: { id: `content_${box.id}`, lost } });
      return boxEvent(['Emptied']);
    }
    if (step % 3 === 0) {
      box.label = `label ${step}`;
      due('box.updated');
      return boxEvent(['Labelled', { label: box.label }]);
    }
    box.content += step;
    due('box.updated');
    return boxEvent(['Filled', { amount: step }]);
  };
  return {
    expected,
    append: async (events, perAppend = 3) => {
      for (let left = events; left > 0; left -= perAppend) {
        const box = boxes[step % boxes.length] as BoxBooks;
        const before = box.revision;
        const batch = Array.from({ length: Math.min(left, perAppend) }, () => next(box));
        await store.append(boxStream(box.id), batch, before);
      }
    },
  };
}

/** Everything that the stream holds: sequences have to be without gaps. */
export async function streamBodies(client: NatsConnection): Promise<string[]> {
  const manager = await client.jetstreamManager();
  const { state } = await manager.streams.info(publicStream);
  if (state.messages === 0) return [];
  const consumer = await client.jetstream().consumers.get(publicStream);
  const bodies: string[] = [];
  let last = state.first_seq - 1;
  for await (const message of await consumer.fetch({ max_messages: state.messages })) {
    assert.is(message.seq, last + 1, 'sequences have no gap');
    last = message.seq;
    bodies.push(message.string());
    if (message.info.pending === 0) break;
  }
  return bodies;
}

/** Waits until the stream has got so many messages. */
export async function untilStored(client: NatsConnection, messages: number): Promise<void> {
  const manager = await client.jetstreamManager({ checkAPI: false, timeout: 2_000 });
  await until(`message ${messages}`, async () => {
    const info = await manager.streams.info(publicStream).catch(() => null);
    return (info?.state.last_seq ?? 0) >= messages;
  });
}

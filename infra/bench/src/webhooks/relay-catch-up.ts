import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Demo, OperatorError } from '@counterfoil/cli/settings';
import {
  connectNats,
  createLog,
  followPublicStream,
  type Nats,
  openEventStore,
  publicStream,
  type Relay,
  StreamCache,
  startRelay,
} from '@counterfoil/engine';
import { startNats } from '@counterfoil/local';
import { modules } from '@counterfoil/modules';

/** The speed at which a relay fills an empty stream from the start of the log. */
export interface RelayFigures {
  readonly messages: number;
  readonly messagesPerSecond: number;
}

const log = createLog({ level: 'silent', name: 'bench' });
const patienceMs = 120_000;
const lookMs = 5;
const restMs = 2_000;

/**
 * Fills the stream of a second, empty broker from the log of an installation that is at rest, and
 * takes the time.
 *
 * @throws {OperatorError} unless that stream then holds the very messages of the installation's own, each
 *   once and in the same order
 */
export async function measureRelayCatchUp(demo: Demo, folder: string): Promise<RelayFigures> {
  const broker = await startNats({ directory: join(folder, 'second-nats') });
  const store = openEventStore({ url: demo.eventstore_url });
  const nats = await connectNats({ url: broker.url, name: 'counterfoil bench', log });
  const original = await connectNats({ url: demo.nats_url, name: 'counterfoil bench', log });
  try {
    const messages = await messagesAtRest(original);
    const startedAt = performance.now();
    const relay = startRelay({
      store,
      cache: new StreamCache({ store }),
      nats,
      publicEvents: modules({ secrets: null }).flatMap(({ publicEvents }) => publicEvents),
      // At rest the read models have caught up with the log.
      projected: { waitFor: async () => undefined },
      checkpoint: { load: async () => null, save: async () => undefined },
      log,
    });
    await untilPublished(relay, messages);
    const seconds = (performance.now() - startedAt) / 1_000;
    await relay.stop();
    await compare(nats, original, messages);
    return { messages, messagesPerSecond: Math.round(messages / seconds) };
  } finally {
    await Promise.all([nats.close(), original.close(), store.close()]);
    await broker.stop();
  }
}

/** The number of messages in the public stream once no more are added. */
async function messagesAtRest(nats: Nats): Promise<number> {
  const { connection } = await nats.session(AbortSignal.timeout(patienceMs));
  const manager = await connection.jetstreamManager({ checkAPI: false });
  let last = -1;
  for (;;) {
    const { state } = await manager.streams.info(publicStream);
    if (state.last_seq === last) return last;
    last = state.last_seq;
    await pause(restMs);
  }
}

/** Resolves when the relay has published this many messages. */
async function untilPublished(relay: Relay, messages: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (relay.status().published < messages) {
    if (performance.now() > deadline) {
      const { published, error } = relay.status();
      throw new OperatorError(`the relay is not done after ${published} messages: ${error}`);
    }
    await pause(lookMs);
  }
}

async function compare(filled: Nats, original: Nats, messages: number): Promise<void> {
  const [copies, originals] = await Promise.all([read(filled, messages), read(original, messages)]);
  const place = originals.findIndex((message, index) => copies[index] !== message);
  if (place >= 0 || copies.length !== originals.length) {
    throw new OperatorError(`message ${place + 1} of the stream that was filled is another one`);
  }
}

/** The first messages of the public stream: id and body of each. */
async function read(nats: Nats, count: number): Promise<readonly string[]> {
  const ending = new AbortController();
  const patience = setTimeout(() => ending.abort(), patienceMs);
  const messages: string[] = [];
  try {
    for await (const batch of followPublicStream({
      nats,
      after: null,
      signal: ending.signal,
      log,
    })) {
      for (const { id, body } of batch.messages)
        messages.push(`${id} ${new TextDecoder().decode(body)}`);
      if (messages.length >= count) break;
    }
  } finally {
    clearTimeout(patience);
  }
  return messages.slice(0, count);
}

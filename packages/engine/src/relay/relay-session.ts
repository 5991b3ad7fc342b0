import { gathered } from '../consume/gathering.ts';
import { sleep, unlessAborted } from '../consume/run-forever.ts';
import { eventAt } from '../log/event-at.ts';
import { eventsOf, isCaughtUp, positionAfter } from '../log/follow.ts';
import {
  type EventStore,
  type Position,
  type StoredEvent,
  StoreUnavailable,
} from '../log/types.ts';
import type { Nats } from '../nats/nats-connection.ts';
import { openPublisher } from '../nats/nats-publisher.ts';
import { ensureStreams, type StreamOptions } from '../nats/nats-streams.ts';
import {
  type JetStreamRequests,
  jetStreamRequests,
  readTail,
  type Tail,
} from '../nats/nats-tail.ts';
import type { Log } from '../operations/log.ts';
import type { OutgoingMessage } from './message.ts';
import type { Progress } from './progress.ts';
import type { MessagePlace } from './public-message.ts';
import { type InOrderOptions, publishInOrder } from './publish-in-order.ts';
import type { Renderer } from './render.ts';
import { type Checkpoint, isAfter, type Place, placeOf, resumption } from './resume.ts';

/**
 * The read models; the relay stays behind them, so that receivers of a message can read its effect.
 */
export interface Projected {
  /** Resolves when the read models show everything up to a position. */
  waitFor(position: Position, signal: AbortSignal): Promise<void>;
}

/** The store of the checkpoint, outside both the log and the broker. */
export interface CheckpointStore {
  load(): Promise<Checkpoint | null>;
  save(checkpoint: Checkpoint): Promise<void>;
}

/** The public stream was not made from this log. Going on would mix two histories. */
export class LogMismatch extends Error {
  override readonly name = 'LogMismatch';
}

/** The public stream of a session is gone, removed by somebody and perhaps made again. */
class StreamReplaced extends Error {
  override readonly name = 'StreamReplaced';
}

export interface SessionParts {
  readonly store: EventStore;
  readonly nats: Nats;
  /** Makes the renderer of one session, which takes the log from one place on. */
  readonly renderer: () => Renderer;
  readonly projected: Projected;
  readonly checkpoint: CheckpointStore;
  readonly progress: Progress;
  readonly log: Log;
  readonly streams: StreamOptions;
  readonly window: number;
  readonly onPublished?: ((messages: readonly OutgoingMessage[]) => void) | undefined;
}

/** Events taken from the log at once; also bounds the messages that are kept in memory. */
const batchMaximum = 512;

/** While there is nothing to publish, nothing else would tell what has become of the stream. */
const watchMilliseconds = 5_000;

/**
 * Relays over one connection, from the end of the stream on, until the signal aborts. Rejects when
 * the connection or the stream is lost, somebody else has published there, or anything else goes wrong; the next
 * session starts from the stream's end again and needs to know nothing of this one.
 */
export async function relayOnce(parts: SessionParts, signal: AbortSignal): Promise<void> {
  const { nats, store, streams, window, progress, log } = parts;
  const session = await nats.session(signal);
  const ending = new AbortController();
  const ended = AbortSignal.any([signal, session.lost, ending.signal]);
  const requests = await jetStreamRequests(session);
  await requests.run(ensureStreams(nats, streams, ended));
  const publisher = openPublisher(session, { window });
  try {
    const tail = await readTail(requests);
    const { from, skip, damage } = resumption(tail, await knownCheckpoint(parts, tail));
    if (damage) {
      log.error({ damage, sequence: tail.sequence }, 'relay: the public stream has lost messages');
      progress.damaged(damage);
    }
    progress.opened(tail.identity, from);
    const options = { publisher, readTail: () => readTail(requests), signal: ended };
    const relay = new RelaySession(parts, options, from, skip);
    const last = tail.last && (await eventOf(store, tail.last));
    // The relay before this one may have stored only some of the event's messages.
    if (last && !from.complete) await relay.take([last]);
    void watch(requests, tail.identity, ended).catch((error) => ending.abort(error));
    await relay.follow();
  } finally {
    ending.abort();
    publisher.close();
  }
}

/** Looks at the stream from time to time until the signal aborts. Rejects when it is no longer as it was. */
async function watch(
  requests: JetStreamRequests,
  identity: string,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await sleep(watchMilliseconds, signal);
    if (signal.aborted) return;
    // A last message that is somebody else's is told here.
    const tail = await readTail(requests);
    if (tail.identity !== identity) throw new StreamReplaced('the public stream was replaced');
  }
}

type Way = Pick<InOrderOptions, 'publisher' | 'readTail' | 'signal'>;

/** One session, from a place of the stream on. */
class RelaySession {
  readonly #parts: SessionParts;
  readonly #options: InOrderOptions;
  readonly #renderer: Renderer;
  #place: Place;
  #skip: number;

  /** `skip`: the messages after the place that the stream has had already. */
  constructor(parts: SessionParts, way: Way, place: Place, skip: number) {
    const { progress, log, renderer } = parts;
    this.#parts = parts;
    this.#renderer = renderer();
    this.#place = place;
    this.#skip = skip;
    this.#options = {
      ...way,
      onPlace: progress.placed.bind(progress),
      onResync: (fault, detail) => {
        log.info({ fault, detail }, 'relay: looks at the end of the stream again');
        progress.resynced(fault);
      },
    };
  }

  /** Follows the log from the place on, until the signal aborts. */
  async follow(): Promise<void> {
    const { store, progress, log } = this.#parts;
    const { signal } = this.#options;
    let taken = this.#place.position;
    const subscription = {
      prefixes: this.#renderer.prefixes,
      after: () => taken,
      signal,
      onLost: (error: Error) => {
        progress.isCaughtUp = false;
        log.warn({ error: error.message }, 'relay: the event store is away');
      },
    };
    const batches = store.follow(subscription, batchMaximum);
    for await (const items of gathered(batches, signal)) {
      taken = positionAfter(items) ?? taken;
      await this.take(eventsOf(items));
      progress.error = null;
      if (isCaughtUp(items)) progress.isCaughtUp = true;
    }
    signal.throwIfAborted();
    throw new StoreUnavailable('the event store was closed');
  }

  /** Publishes the messages about events, as far as the stream does not have them. */
  async take(events: readonly StoredEvent[]): Promise<void> {
    const { progress } = this.#parts;
    const [first] = events;
    if (!first) return;
    progress.took();
    const { messages, poison } = await this.#renderer.render(events);
    await this.#publish(messages);
    if (poison) throw poison;
    progress.inHandSince = null;
  }

  async #publish(messages: readonly OutgoingMessage[]): Promise<void> {
    const { projected, progress, log } = this.#parts;
    const { signal } = this.#options;
    const unseen = messages.filter((message) => isAfter(message, this.#place));
    const counted = unseen.slice(0, this.#skip);
    this.#skip -= counted.length;
    if (counted.length > 0) {
      this.#place = placeOf(this.#place.sequence + counted.length, counted.at(-1));
    }
    const missing = unseen.slice(counted.length);
    const last = missing.at(-1);
    if (!last) return;
    await unlessAborted(projected.waitFor(last.position, signal), signal);
    for (const { truncated, id } of missing) {
      if (!truncated) continue;
      log.error({ id }, 'relay: the body is too long, a stub that names the record is published');
      progress.truncated();
    }
    this.#place = await publishInOrder(missing, this.#place, this.#options);
    this.#parts.onPublished?.(missing);
  }
}

/** The checkpoint that is newest: this process's own, or else the one that was saved. */
async function knownCheckpoint(
  { progress, checkpoint, log }: SessionParts,
  tail: Tail,
): Promise<Checkpoint | null> {
  const own = progress.checkpoint();
  if (own) return own;
  try {
    return await checkpoint.load();
  } catch (error) {
    // With a last message the checkpoint only serves to notice damage, and publishing goes on.
    if (tail.last) log.warn({ err: error }, 'relay: the checkpoint cannot be read');
    else throw error;
    return null;
  }
}

/** The event that the stream's last message is about. Throws `LogMismatch` when it is not there. */
async function eventOf(store: EventStore, last: MessagePlace): Promise<StoredEvent> {
  const { stream, revision, position } = last;
  const event = await eventAt(store, stream, revision);
  if (event?.position === position) return event;
  throw new LogMismatch(
    `the public stream ends with an event that the log does not have: ${stream}@${revision} at position ${position}. Stream and log do not belong together, or the log was restored from an older copy`,
  );
}

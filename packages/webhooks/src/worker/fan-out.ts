import {
  type Connection,
  followPublicStream,
  type Nats,
  type PublicMessage,
  StreamMismatch,
  sleep,
} from '@counterfoil/engine';
import { groupsOf, planDeliveries, type Target, wantedBy } from '../queue/fan-out-plan.ts';
import {
  endpointsPosition,
  insertDeliveries,
  insertMessages,
  movePosition,
  type ReadPosition,
  readOpenGroups,
  readPosition,
} from '../queue/fan-out-store.ts';
import { tryHold, withQueueLock } from '../queue/queue-lock.ts';
import type { EndpointCache } from './endpoint-cache.ts';
import { type Loop, type LoopOptions, type Session, startLoop } from './loop.ts';
import type { WorkerMetrics } from './metrics.ts';

export interface FanOutOptions extends LoopOptions {
  readonly nats: Nats;
  readonly endpoints: EndpointCache;
  readonly metrics: WorkerMetrics;
  /** Called when deliveries have become due. */
  readonly onDue: () => void;
}

/** The role of this worker: one of all workers turns messages into deliveries. */
export type FanOutRole = 'starting' | 'standby' | 'active';

export interface FanOut {
  readonly loop: Loop;
  role(): FanOutRole;
  /** The place up to which it has read; null until it is active. */
  position(): ReadPosition | null;
  /** Tells whether messages wait until the read model is as far as they are. */
  isWaiting(): boolean;
}

const messagesMaximum = 200;
/** Rows of one transaction, so that claims and records never wait long for it. */
const deliveriesMaximum = 4_000;
const standbyMs = 1_000;
const behindMs = 20;

/**
 * Starts to read the public stream and to store, in one transaction each, what is to be delivered
 * together with how far it has read: each message becomes deliveries exactly once.
 */
export function startFanOut(options: FanOutOptions): FanOut {
  let role: FanOutRole = 'starting';
  let position: ReadPosition | null = null;
  let reader: Reader | null = null;
  const loop = startLoop(options, async (session) => {
    const { connection, signal, succeeded } = session;
    role = 'standby';
    while (!signal.aborted && !(await tryHold(connection, 'fanOut'))) {
      succeeded();
      await sleep(standbyMs, signal);
    }
    if (signal.aborted) return;
    role = 'active';
    try {
      reader = new Reader(options, session, await readPosition(connection), (moved) => {
        position = moved;
      });
      succeeded();
      await reader.run();
    } finally {
      role = 'starting';
      reader = null;
    }
  });
  return {
    loop,
    role: () => role,
    position: () => position,
    isWaiting: () => reader?.isWaiting ?? false,
  };
}

/** One stretch of reading, from taking the lock to losing the session. */
class Reader {
  readonly #options: FanOutOptions;
  readonly #connection: Connection;
  readonly #signal: AbortSignal;
  readonly #succeeded: () => void;
  readonly #onMoved: (position: ReadPosition) => void;
  #position: ReadPosition;
  isWaiting = false;

  constructor(
    options: FanOutOptions,
    { connection, signal, succeeded }: Session,
    position: ReadPosition,
    onMoved: (position: ReadPosition) => void,
  ) {
    this.#options = options;
    this.#connection = connection;
    this.#signal = signal;
    this.#succeeded = succeeded;
    this.#position = position;
    this.#onMoved = onMoved;
    onMoved(position);
  }

  /** Reads until the signal aborts. Throws when this session cannot go on. */
  async run(): Promise<void> {
    let after: ReadPosition | null = this.#position.sequence === 0 ? null : this.#position;
    while (!this.#signal.aborted) {
      try {
        await this.#follow(after);
      } catch (error) {
        if (!(error instanceof StreamMismatch) || after === null) throw error;
        this.#reportMismatch(error);
        // From the oldest message that is kept; those that were read before are passed over.
        after = null;
      }
    }
  }

  async #follow(after: ReadPosition | null): Promise<void> {
    const { nats, log } = this.#options;
    const signal = this.#signal;
    for await (const batch of followPublicStream({
      nats,
      after,
      signal,
      log,
      maximum: messagesMaximum,
    })) {
      let rest = batch.filter((message) => this.#isNew(message));
      while (rest.length > 0 && !signal.aborted) {
        await this.#waitForEndpoints(rest);
        if (signal.aborted) return;
        rest = rest.slice(await this.#store(rest));
        this.#succeeded();
      }
    }
  }

  #isNew({ position, index }: PublicMessage): boolean {
    const last = this.#position;
    return position > last.position || (position === last.position && index > last.index);
  }

  #reportMismatch({ reason, firstSequence, message }: StreamMismatch): void {
    const { log, metrics } = this.#options;
    if (reason === 'aged_out') {
      metrics.missed.inc(Math.max(0, firstSequence - 1 - this.#position.sequence));
      log.error({ reason: message }, 'public stream: messages were lost to webhooks');
    } else {
      log.warn({ reason: message }, 'public stream: reads it again from its beginning');
    }
  }

  /** Returns once the endpoints are as far as the messages, or when the signal aborts. */
  async #waitForEndpoints(messages: readonly PublicMessage[]): Promise<void> {
    const needed = messages.at(-1)?.position ?? 0n;
    do {
      this.isWaiting = (await endpointsPosition(this.#connection)) < needed;
      if (this.isWaiting) await sleep(behindMs, this.#signal);
    } while (this.isWaiting && !this.#signal.aborted);
  }

  /** Stores the deliveries of the first messages. Gives of how many. */
  async #store(messages: readonly PublicMessage[]): Promise<number> {
    const { endpoints, metrics, onDue } = this.#options;
    const stored = await withQueueLock(this.#connection, 'queue', async () => {
      const environmentIds = new Set(messages.flatMap((message) => message.environmentId ?? []));
      const targets = await endpoints.targets(this.#connection, [...environmentIds]);
      const taken = messages.slice(0, Math.max(1, Math.floor(deliveriesMaximum / targets.length)));
      const deliveries = await this.#insert(taken, targets);
      const position = taken.at(-1) ?? this.#position;
      // Looked at last: endpoints that were read while they were being filled anew may not be all.
      if ((await endpointsPosition(this.#connection)) < position.position) {
        throw new Error('The read model of endpoints has gone back while messages were matched.');
      }
      await movePosition(this.#connection, this.#position, position);
      return { taken, deliveries, position };
    });
    const { sequence, position, index } = stored.position;
    this.#position = { sequence, position, index };
    this.#onMoved(this.#position);
    metrics.messages.inc(stored.taken.length);
    if (stored.deliveries > 0) onDue();
    return stored.taken.length;
  }

  /**
   * Messages of environments without endpoints are not stored, but for those that were too long:
   * subscribers of NATS ask for their whole body by way of the message. Gives the number of
   * deliveries.
   */
  async #insert(messages: readonly PublicMessage[], targets: readonly Target[]): Promise<number> {
    const environmentIds = new Set(targets.map(({ environmentId }) => environmentId));
    const kept = messages.filter(
      ({ environmentId, isTruncated }) =>
        environmentId !== null && (isTruncated || environmentIds.has(environmentId)),
    );
    if (kept.length === 0) return 0;
    const wanted = wantedBy(kept, targets);
    const open = await readOpenGroups(this.#connection, groupsOf(wanted));
    await insertMessages(this.#connection, kept);
    await insertDeliveries(this.#connection, planDeliveries(wanted, open));
    return wanted.length;
  }
}

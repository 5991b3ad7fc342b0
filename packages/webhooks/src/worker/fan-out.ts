import {
  type Connection,
  environmentSubjects,
  followPublicStream,
  type Nats,
  type PublicMessage,
  StreamMismatch,
  sleep,
} from '@counterfoil/engine';
import { type Audience, isStill, readAudience } from '../queue/audience.ts';
import { groupsOf, planDeliveries, type Target, wantedBy } from '../queue/fan-out-plan.ts';
import {
  endpointsPosition,
  insertDeliveries,
  insertMessages,
  movePosition,
  passOver,
  type ReadPosition,
  readOpenGroups,
  readPosition,
} from '../queue/fan-out-store.ts';
import { tryHold, withQueueLock } from '../queue/queue-lock.ts';
import type { EndpointCache } from './endpoint-cache.ts';
import { type Loop, type LoopOptions, type Session, startLoop } from './loop.ts';
import type { WorkerMetrics } from './metrics.ts';

/** The parts of a fan-out. */
export interface FanOutOptions extends LoopOptions {
  readonly nats: Nats;
  readonly endpoints: EndpointCache;
  readonly metrics: WorkerMetrics;
  /** Called when deliveries have become due. */
  readonly onDue: () => void;
}

/** The state of the fan-out. */
export interface FanOutStatus {
  /** One of all workers turns messages into deliveries: the active one. */
  readonly role: 'starting' | 'standby' | 'active';
  /** Sequence of the last message of the public stream that has been turned into deliveries. */
  readonly sequence: number | null;
  /** True while messages wait until the read model is as far as they are. */
  readonly isWaiting: boolean;
}

/** Turns messages of the public stream into deliveries. */
export interface FanOut {
  readonly loop: Loop;
  status(): FanOutStatus;
}

const messagesMaximum = 200;
/** Rows of one transaction, so that claims and records never wait long for it. */
const deliveriesMaximum = 4_000;
const standbyMs = 1_000;
const behindMs = 20;

/**
 * Starts to read the public stream and to store, in one transaction each, the deliveries together
 * with the place up to which it has read: each message becomes deliveries exactly once.
 */
export function startFanOut(options: FanOutOptions): FanOut {
  let status: FanOutStatus = { role: 'starting', sequence: null, isWaiting: false };
  const show = (changes: Partial<FanOutStatus>): void => {
    status = { ...status, ...changes };
  };
  const loop = startLoop(options, async (session) => {
    const { connection, signal, succeeded } = session;
    show({ role: 'standby' });
    while (!signal.aborted && !(await tryHold(connection, 'fanOut'))) {
      succeeded();
      await sleep(standbyMs, signal);
    }
    if (signal.aborted) return;
    const position = await readPosition(connection);
    show({ role: 'active', sequence: position.sequence });
    try {
      succeeded();
      await new Reader(options, session, position, show).run();
    } finally {
      show({ role: 'starting', isWaiting: false });
    }
  });
  return { loop, status: () => status };
}

/** One stretch of reading, from taking the lock to losing the session. */
class Reader {
  readonly #options: FanOutOptions;
  readonly #session: Session;
  readonly #show: (changes: Partial<FanOutStatus>) => void;
  #position: ReadPosition;
  /** The place to go on from; null for the oldest message that is kept. */
  #after: ReadPosition | null;

  constructor(
    options: FanOutOptions,
    session: Session,
    position: ReadPosition,
    show: (changes: Partial<FanOutStatus>) => void,
  ) {
    this.#options = options;
    this.#session = session;
    this.#position = position;
    this.#after = position.sequence === 0 ? null : position;
    this.#show = show;
  }

  /** Reads until the signal aborts. Throws when this session cannot go on. */
  async run(): Promise<void> {
    while (!this.#session.signal.aborted) {
      try {
        await this.#follow(await readAudience(this.#session.connection));
      } catch (error) {
        if (!(error instanceof StreamMismatch) || this.#after === null) throw error;
        this.#reportMismatch(error);
        // From the oldest message that is kept; those that were read before are passed over.
        this.#after = null;
      }
    }
  }

  /** Reads the messages of an audience, until another one is to be read for. */
  async #follow(audience: Audience): Promise<void> {
    const { nats, log } = this.#options;
    const { signal, succeeded, stuck: onFault } = this.#session;
    const wanted = audience?.map(environmentSubjects);
    const place = { after: this.#after, maximum: messagesMaximum, wanted };
    for await (const batch of followPublicStream({ ...place, nats, signal, log, onFault })) {
      if (batch.messages.length === 0 && (await this.#passOver(batch.reached, audience))) {
        succeeded();
        continue;
      }
      let rest = batch.messages.filter((message) => this.#isNew(message));
      do {
        await this.#waitForEndpoints(rest.at(-1) ?? batch.reached);
        if (signal.aborted) return;
        const stored = await this.#store(rest, batch.reached, audience);
        if (stored === null) return;
        rest = rest.slice(stored);
        succeeded();
      } while (rest.length > 0 && !signal.aborted);
    }
  }

  /** Moves on past messages that nobody was to have. False when that has to be looked into. */
  async #passOver(reached: ReadPosition, audience: Audience): Promise<boolean> {
    const { connection } = this.#session;
    if (!this.#isNew(reached)) return await isStill(connection, audience);
    const hasMoved = await passOver(connection, this.#position, reached, audience);
    if (hasMoved) this.#moved(reached);
    return hasMoved;
  }

  #moved({ sequence, position, index }: ReadPosition): void {
    this.#position = { sequence, position, index };
    this.#after = this.#position;
    this.#show({ sequence, isWaiting: false });
  }

  #isNew({ position, index }: Pick<ReadPosition, 'position' | 'index'>): boolean {
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

  /** Returns once the endpoints are as far as a message, or when the signal aborts. */
  async #waitForEndpoints({ position: needed }: Pick<ReadPosition, 'position'>): Promise<void> {
    const { connection, signal } = this.#session;
    while (!signal.aborted && (await endpointsPosition(connection)) < needed) {
      this.#show({ isWaiting: true });
      await sleep(behindMs, signal);
    }
    this.#show({ isWaiting: false });
  }

  /**
   * Stores the deliveries of the first messages, or moves on to the place that was reached when there are
   * none. Returns of how many messages; null when the audience is another one by now: then nothing was stored.
   *
   * What was passed over up to here was of no interest to the audience, and nobody has joined it since:
   * the endpoints that are looked at are as far as the place, and an endpoint gets what happens after
   * its creation.
   */
  async #store(
    messages: readonly PublicMessage[],
    reached: ReadPosition,
    audience: Audience,
  ): Promise<number | null> {
    const { endpoints, metrics, onDue } = this.#options;
    const { connection } = this.#session;
    const stored = await withQueueLock(connection, 'queue', async () => {
      if (!(await isStill(connection, audience))) return null;
      const environmentIds = new Set(messages.flatMap((message) => message.environmentId ?? []));
      const targets = await endpoints.targets(connection, [...environmentIds]);
      const taken = messages.slice(0, Math.max(1, Math.floor(deliveriesMaximum / targets.length)));
      const deliveries = await insert(connection, taken, targets);
      const position = taken.at(-1) ?? (this.#isNew(reached) ? reached : this.#position);
      // Looked at last: endpoints that were read while they were being filled again may not be all.
      if ((await endpointsPosition(connection)) < position.position) {
        throw new Error('The read model of endpoints has gone back while messages were matched.');
      }
      if (position !== this.#position) await movePosition(connection, this.#position, position);
      return { messages: taken.length, deliveries, position };
    });
    if (stored === null) return null;
    this.#moved(stored.position);
    metrics.messages.inc(stored.messages);
    if (stored.deliveries > 0) onDue();
    return stored.messages;
  }
}

/**
 * Stores messages with their deliveries. Messages of environments without endpoints are not stored.
 * Returns the number of deliveries.
 */
async function insert(
  connection: Connection,
  messages: readonly PublicMessage[],
  targets: readonly Target[],
): Promise<number> {
  const environmentIds = new Set(targets.map(({ environmentId }) => environmentId));
  const kept = messages.filter(
    ({ environmentId }) => environmentId !== null && environmentIds.has(environmentId),
  );
  if (kept.length === 0) return 0;
  const wanted = wantedBy(kept, targets);
  const open = await readOpenGroups(connection, groupsOf(wanted));
  await insertMessages(connection, kept);
  await insertDeliveries(connection, planDeliveries(wanted, open));
  return wanted.length;
}

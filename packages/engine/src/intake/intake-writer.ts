import { randomBytes, randomUUID } from 'node:crypto';
import { type EnvironmentId, type Instant, instantOf, Problem } from '@counterfoil/kernel';
import { LRUCache } from 'lru-cache';
import type { Cause } from '../decide/command.ts';
import { appendFailure, notConfirmed } from '../decide/problems.ts';
import type { Clock } from '../define/clock.ts';
import type { AnyIntake } from '../define/intake.ts';
import { emptyChain } from '../log/hash-chain.ts';
import { streamName } from '../log/stream-name.ts';
import { AppendError, type EventStore, type NewEvent, type Position } from '../log/types.ts';
import type { TrustedTime } from '../operations/trusted-time.ts';
import { type FactGroup, type FactHead, factEvent } from './fact-event.ts';

export interface IntakeWriterOptions {
  readonly store: Pick<EventStore, 'append'>;
  readonly clock: Clock;
  readonly doubtOfTime?: TrustedTime['doubt'];
  /** Told about each append that succeeded. */
  readonly onAppend?: (facts: number, events: number) => void;
}

const limits = {
  /** Bytes of facts in one append: far enough below what a server takes at once. */
  appendBytes: 768 * 1024,
  /** Bytes of facts that may wait in one process; whoever brings more is told to come back. */
  waitingBytes: 128 * 1024 * 1024,
  /** Events in one stream; the next ones begin another. */
  streamEvents: 10_000,
  /** Streams that facts are sent to in turn before their sender is told that it failed. */
  attempts: 3,
  /** Environments whose stream is kept open. */
  environments: 10_000,
} as const;

/** Facts of one request, or a part of them that one append can take. */
interface Portion extends FactGroup {
  readonly bytes: number;
  readonly resolve: (position: Position) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Appends facts to the log. Each environment has a stream of its own in each process, so nobody else writes to it.
 * While an append is under way facts gather, and go out together as the next one.
 *
 * An append of unknown outcome is sent again to another stream. So facts may be in the log twice: whoever
 * reads them counts each once, by its identity.
 */
export class IntakeWriter {
  readonly #options: IntakeWriterOptions;
  readonly #lanes = new LRUCache<string, Lane>({ max: limits.environments });
  #waitingBytes = 0;

  constructor(options: IntakeWriterOptions) {
    this.#options = options;
  }

  /**
   * Records facts of an environment, each in canonical JSON. Resolves with the position of the last one when
   * all are durable. Rejects with 503 when they are not, or may not be; a repetition does no harm.
   */
  async record(
    intake: AnyIntake,
    environmentId: EnvironmentId,
    cause: Cause,
    texts: readonly string[],
  ): Promise<Position> {
    const parts = portionsOf(texts);
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    if (this.#waitingBytes + bytes > limits.waitingBytes) throw tooMuch();
    this.#waitingBytes += bytes;
    try {
      const doubt = this.#options.doubtOfTime?.();
      if (doubt) await doubt;
      const lane = this.#laneOf(intake, environmentId);
      const positions = await Promise.all(parts.map((part) => lane.add({ cause, ...part })));
      return positions.reduce((last, position) => (position > last ? position : last), 0n);
    } finally {
      this.#waitingBytes -= bytes;
    }
  }

  #laneOf(intake: AnyIntake, environmentId: EnvironmentId): Lane {
    const key = `${intake.name} ${environmentId}`;
    const known = this.#lanes.get(key);
    if (known) return known;
    const made = new Lane(this.#options, intake, environmentId);
    this.#lanes.set(key, made);
    return made;
  }
}

const tooMuch = (): Problem =>
  new Problem('service_unavailable', 'Too much is waiting to be recorded. Retry shortly.', {
    retryAfterSeconds: 1,
  });

/** Cuts facts into parts that one append can take. */
function portionsOf(texts: readonly string[]): readonly Pick<Portion, 'texts' | 'bytes'>[] {
  const parts: { texts: string[]; bytes: number }[] = [];
  for (const text of texts) {
    const bytes = Buffer.byteLength(text) + 1;
    const last = parts.at(-1);
    if (last && last.bytes + bytes <= limits.appendBytes) {
      last.texts.push(text);
      last.bytes += bytes;
    } else {
      parts.push({ texts: [text], bytes });
    }
  }
  return parts;
}

/** The stream of an environment's facts in this process. */
class Lane {
  readonly #options: IntakeWriterOptions;
  readonly #intake: AnyIntake;
  readonly #environmentId: EnvironmentId;
  readonly #waiting: Portion[] = [];
  #isSending = false;
  #stream = '';
  #head: FactHead = newHead;

  constructor(options: IntakeWriterOptions, intake: AnyIntake, environmentId: EnvironmentId) {
    this.#options = options;
    this.#intake = intake;
    this.#environmentId = environmentId;
  }

  add(group: FactGroup & { readonly bytes: number }): Promise<Position> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...group, resolve, reject });
      if (this.#isSending) return;
      this.#isSending = true;
      // What comes within the same turn of the loop goes out together.
      queueMicrotask(() => void this.#send());
    });
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0) {
      const portions = this.#next();
      try {
        const position = await this.#append(portions);
        for (const { resolve } of portions) resolve(position);
      } catch (error) {
        for (const { reject } of portions) reject(error);
      }
    }
    this.#isSending = false;
  }

  /** As many of those that wait as one append takes. */
  #next(): readonly Portion[] {
    let bytes = 0;
    const end = this.#waiting.findIndex((portion, index) => {
      bytes += portion.bytes;
      return index > 0 && bytes > limits.appendBytes;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  async #append(portions: readonly Portion[]): Promise<Position> {
    for (let attempt = 1; ; attempt += 1) {
      if (this.#isFull()) this.#open();
      const stream = this.#stream;
      const { events, head } = this.#eventsOf(portions);
      try {
        const { revision } = this.#head;
        const { position } = await this.#options.store.append(stream, events, revision);
        this.#head = head;
        this.#options.onAppend?.(count(portions), events.length);
        return position;
      } catch (error) {
        // Whether or not it was written there: another stream has no doubtful end.
        this.#open();
        if (!(error instanceof AppendError)) throw error;
        const isOpen = error.failure === 'unknown_outcome';
        if (!isOpen && error.failure !== 'conflict') throw appendFailure(stream, error);
        if (attempt === limits.attempts) throw notConfirmed();
      }
    }
  }

  #isFull(): boolean {
    const { revision, occurredAt } = this.#head;
    if (this.#stream === '' || revision >= limits.streamEvents) return true;
    // A stream for each day, so that old ones can be put away.
    return revision >= 0 && occurredAt.slice(0, 10) < this.#now().slice(0, 10);
  }

  #open(): void {
    const id = `in_${randomBytes(12).toString('hex')}`;
    this.#stream = streamName({ category: this.#intake.name, scope: this.#environmentId, id });
    this.#head = newHead;
  }

  #now(): Instant {
    return this.#options.clock.now(this.#environmentId);
  }

  /** One event for each caller among them: who sent a fact stands in the metadata. */
  #eventsOf(portions: readonly Portion[]): { events: NewEvent[]; head: FactHead } {
    const now = this.#now();
    const events: NewEvent[] = [];
    let head = this.#head;
    const byCaller = Map.groupBy(portions, ({ cause }) => cause.actor.key_id);
    for (const [first, ...others] of byCaller.values()) {
      if (!first) continue;
      const texts = [first, ...others].flatMap((portion) => portion.texts);
      const event = { id: randomUUID(), type: this.#intake.eventType, now };
      const made = factEvent(this.#stream, head, event, { cause: first.cause, texts });
      events.push(made.event);
      head = made.head;
    }
    return { events, head };
  }
}

const newHead: FactHead = { ...emptyChain, occurredAt: instantOf(0) };

const count = (portions: readonly Portion[]): number =>
  portions.reduce((sum, { texts }) => sum + texts.length, 0);

import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import { react } from '../decide/react.ts';
import type { Streams } from '../decide/streams.ts';
import type { Place, Reader } from '../define/context.ts';
import type { Reaction, Reconciliation } from '../define/reaction.ts';
import type { FactsOf } from '../intake/fact-reads.ts';
import { stampedEvent } from '../log/decode.ts';
import { eventsOf, positionAfter } from '../log/follow.ts';
import { categoryPrefix, parseStreamName } from '../log/stream-name.ts';
import type { EventStore, LogItem, Position, StoredEvent } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import { PositionClock, type ProjectedPosition } from '../projection/projected-position.ts';
import type { HeldBack, ReactionPlace, ReactionPlaces, RecordPlace } from './reaction-place.ts';
import {
  type BackOffLimits,
  inParallel,
  jittered,
  messageOf,
  runForever,
  sleep,
} from './run-forever.ts';

/** Items taken from the log together; records handled beside each other; records held back at most. */
const limits = { items: 500, records: 16, heldBack: 1_000 } as const;
const saveMilliseconds = 1_000;
const standbyMilliseconds = 500;
/** The longest wait for the read models before it is looked at again. */
const waitMilliseconds = 5_000;

/** The tools that all reactions of a process share. */
export interface ReactionTools {
  readonly store: Pick<EventStore, 'follow' | 'readStream' | 'head'>;
  readonly streams: Streams;
  readonly places: ReactionPlaces;
  readonly reader: (place: Place) => Reader;
  /** Left out where no reaction reads facts. */
  readonly factsOf?: FactsOf;
  readonly projected: ProjectedPosition;
  /** True in the one process that works; others stand by. */
  readonly isActive: () => boolean;
  readonly log: Log;
  /** Waits before a record that is held back is tried again. */
  readonly retry: BackOffLimits;
  readonly onHandled: (reaction: string, outcome: 'done' | 'failed') => void;
}

/** One reaction at work: see ADR 24. */
export class RunningReaction {
  readonly reaction: Reaction;
  /** The reason why it cannot go on at all; null while nothing keeps it. */
  failure: string | null = null;
  /** The position up to which every event was handled or is held back, for those who wait for it. */
  readonly reached = new PositionClock();
  /** The position of the last event that it has written. */
  written: Position = 0n;
  readonly #tools: ReactionTools;
  #place: ReactionPlace = { position: 0n, heldBack: new Map() };
  /** The position up to which events have been taken: later ones meet records as they are held back then. */
  #taken: Position = 0n;
  /** The place that was saved last, as text. */
  #saved = '';
  readonly #mending = new Set<Promise<void>>();

  constructor(tools: ReactionTools, reaction: Reaction) {
    this.#tools = tools;
    this.reaction = reaction;
  }

  get place(): Readonly<ReactionPlace> {
    return this.#place;
  }

  /** Goes on until the signal aborts, over every failure. */
  run(signal: AbortSignal): Promise<void> {
    return this.#forever(
      () => this.#takeTurn(signal),
      '',
      signal,
      (error) => {
        this.failure = messageOf(error);
      },
    );
  }

  /** Works until this process is no longer the one that does. */
  async #takeTurn(stopping: AbortSignal): Promise<number> {
    if (!this.#tools.isActive()) return standbyMilliseconds;
    const ended = new AbortController();
    const signal = AbortSignal.any([stopping, ended.signal]);
    await this.#load();
    for (const stream of this.#place.heldBack.keys()) this.#mend(stream, signal);
    const parts = [
      this.#follow(signal),
      this.#keepPlace(signal, () => ended.abort()),
      this.#reconcile(signal),
    ];
    try {
      await Promise.all(parts);
    } finally {
      ended.abort();
      await Promise.allSettled([...parts, ...this.#mending]);
      await this.#save().catch(() => undefined);
    }
    return standbyMilliseconds;
  }

  async #load(): Promise<void> {
    const { places, store } = this.#tools;
    const { name, start } = this.reaction;
    const known = await places.load(name);
    const position = start === 'beginning' ? 0n : await store.head();
    this.#place = known ?? { position, heldBack: new Map() };
    this.#taken = this.#place.position;
    this.reached.set(this.#place.position);
    this.#saved = '';
  }

  async #save(): Promise<void> {
    const { position, heldBack } = this.#place;
    const text = JSON.stringify([String(position), [...heldBack]]);
    if (text === this.#saved) return;
    await this.#tools.places.save(this.reaction.name, this.#place);
    this.#saved = text;
  }

  async #keepPlace(signal: AbortSignal, end: () => void): Promise<void> {
    while (!signal.aborted) {
      await this.#save();
      this.failure = null;
      await sleep(saveMilliseconds, signal);
      if (!this.#tools.isActive()) end();
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const prefixes = [categoryPrefix(this.reaction.aggregate.name)];
    const subscription = { prefixes, after: () => this.#place.position, signal };
    for await (const items of this.#tools.store.follow(subscription, limits.items)) {
      await this.#handleBatch(items, signal);
      if (signal.aborted) return;
    }
  }

  async #handleBatch(items: readonly LogItem[], signal: AbortSignal): Promise<void> {
    const events = eventsOf(items).filter((event) => this.#isWanted(event));
    const reached = positionAfter(items) ?? this.#place.position;
    // Most of what passes by concerns others.
    const last = events.at(-1);
    if (last) await this.#awaitProjection(last.position, signal);
    if (signal.aborted) return;
    this.#taken = reached;
    if (last) await this.#handleEvents(events, signal);
    if (signal.aborted) return;
    this.#place.position = reached;
    this.reached.set(reached);
  }

  async #handleEvents(events: readonly StoredEvent[], signal: AbortSignal): Promise<void> {
    const waiting = events.filter(({ stream }) => !this.#place.heldBack.has(stream));
    const records = [...Map.groupBy(waiting, ({ stream }) => stream).values()];
    await inParallel(records, limits.records, (record) => this.#handleRecord(record, signal));
  }

  #isWanted({ type }: StoredEvent): boolean {
    return Object.hasOwn(this.reaction.on, type);
  }

  async #awaitProjection(position: Position, signal: AbortSignal): Promise<void> {
    const { projected } = this.#tools;
    while (!signal.aborted) {
      if (await projected.waitFor(position, waitMilliseconds, signal)) return;
    }
  }

  /** Handles events of one record in order. With the first that fails, the record is held back. */
  async #handleRecord(events: readonly StoredEvent[], signal: AbortSignal): Promise<void> {
    for (const event of events) {
      if (signal.aborted) return;
      try {
        await this.#handle(event);
      } catch (error) {
        const { log } = this.#tools;
        const { stream, revision } = event;
        const { heldBack } = this.#place;
        if (heldBack.size < limits.heldBack) {
          log.error({ err: error, reaction: this.reaction.name, stream, revision }, 'held back');
          heldBack.set(stream, { revision, error: messageOf(error) });
          this.#mend(stream, signal);
          return;
        }
        await this.#untilDone(() => this.#handle(event), stream, signal);
      }
    }
  }

  async #handle(event: StoredEvent): Promise<void> {
    const { streams, reader, factsOf, projected, onHandled } = this.#tools;
    const { name, aggregate } = this.reaction;
    const { $correlationId: correlationId } = event.metadata;
    const id = parseStreamName(event.stream)?.id ?? '';
    try {
      const stamped = stampedEvent(aggregate, event);
      const placed = { ...stamped, aggregate_id: id, revision: event.revision };
      const onWritten = (position: Position): void => {
        if (position > this.written) this.written = position;
      };
      // The tables have the event, and records are at least as new as they.
      const reads = { reader, factsOf, loadsUpTo: () => projected.position() };
      const caused = { correlationId, causationId: event.id };
      await react(streams, this.reaction, placed, { ...caused, ...reads, onWritten });
      onHandled(name, 'done');
    } catch (error) {
      onHandled(name, 'failed');
      throw error;
    }
  }

  /** Tries again to go on with a record that is held back, until it is level with the others. */
  #mend(stream: string, signal: AbortSignal): void {
    const record = this.#place.heldBack.get(stream);
    if (!record) return;
    const mend = async (): Promise<void> => {
      await sleep(jittered(this.#tools.retry.firstMilliseconds), signal);
      await this.#untilDone(
        (progressed) => this.#goOn(stream, record, progressed, signal),
        stream,
        signal,
        (error) => {
          record.error = messageOf(error);
        },
      );
      this.#mending.delete(mending);
    };
    const mending = mend();
    this.#mending.add(mending);
  }

  async #goOn(
    stream: string,
    record: HeldBack,
    progressed: () => void,
    signal: AbortSignal,
  ): Promise<void> {
    for (let upTo: Position | null = null; upTo !== this.#taken; ) {
      upTo = this.#taken;
      for await (const event of this.#tools.store.readStream(stream, { from: record.revision })) {
        if (event.position > upTo) break;
        signal.throwIfAborted();
        if (this.#isWanted(event)) await this.#handle(event);
        record.revision = event.revision + 1;
        progressed();
      }
    }
    // Nothing has been taken since the last event was read, so the next one is handled with all others.
    this.#place.heldBack.delete(stream);
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    const { reconciliation } = this.reaction;
    if (!reconciliation) return;
    const takeTurn = async (): Promise<number> => {
      await reconciliation.run(await this.#statesOf(reconciliation));
      return reconciliation.everyMilliseconds;
    };
    await this.#forever(takeTurn, 'looking at all records', signal);
  }

  async #statesOf({ table }: Reconciliation<unknown>): Promise<readonly unknown[]> {
    const { places, streams } = this.#tools;
    const { aggregate } = this.reaction;
    const states: unknown[] = [];
    await inParallel(await places.recordsOf(table), limits.records, async (record) => {
      const { tenantId, environmentId } = scopeOf(record);
      const owner = aggregate.scope === 'tenant' ? tenantId : environmentId;
      states.push((await streams.writer(aggregate, owner, record.id).current()).state);
    });
    return states;
  }

  /** Does the work again and again, until it succeeds once. */
  async #untilDone(
    work: (progressed: () => void) => Promise<void>,
    what: string,
    signal: AbortSignal,
    onFailure?: (error: unknown) => undefined,
  ): Promise<void> {
    const done = new AbortController();
    const takeTurn = async (progressed: () => void): Promise<number> => {
      await work(progressed);
      done.abort();
      return 0;
    };
    await this.#forever(takeTurn, what, AbortSignal.any([signal, done.signal]), onFailure);
  }

  #forever(
    takeTurn: Parameters<typeof runForever>[0],
    what: string,
    signal: AbortSignal,
    onFailure: (error: unknown) => undefined = () => undefined,
  ): Promise<void> {
    const { log, retry: backOff } = this.#tools;
    const name = ['reaction', this.reaction.name, what].join(' ').trim();
    return runForever(takeTurn, { name, log, signal, backOff, onFailure });
  }
}

const scopeOf = ({ tenant_id, environment_id }: Omit<RecordPlace, 'id'>) => ({
  tenantId: tenant_id as TenantId,
  environmentId: (environment_id ?? tenant_id) as EnvironmentId,
});

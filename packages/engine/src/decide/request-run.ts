import {
  type Aggregate,
  type AnyAggregate,
  type Decision,
  derivedId,
  type EventCatalogue,
  type EventOf,
  type Id,
  type IdPrefix,
  type Instant,
  invariant,
  randomId,
} from '@counterfoil/kernel';
import type { HistoryRange, RecalledRecords } from '../define/asking-context.ts';
import type {
  ChainLink,
  CommandContext,
  HistoryEvent,
  Outcome,
  Place,
  Prepared,
  Principal,
  Reader,
} from '../define/context.ts';
import type { AnyIntake, FactReads } from '../define/intake.ts';
import type { Part } from '../define/part.ts';
import type { Reaction } from '../define/reaction.ts';
import type { RequestContext } from '../define/request-context.ts';
import type { BeginRequest, RequestRun } from '../http/host.ts';
import { type FactReadSide, factReads } from '../intake/fact-reads.ts';
import type { IntakeWriter } from '../intake/intake-writer.ts';
import { isRecordId } from '../log/stream-name.ts';
import type { Position, RequestFingerprint } from '../log/types.ts';
import {
  type Cause,
  type CommandOutcome,
  preparedFrom,
  type RawEvent,
  runPrepared,
} from './command.ts';
import { chainOf, historyOf } from './history.ts';
import type { PublicBytesQuota } from './public-bytes-quota.ts';
import { react } from './react.ts';
import {
  awaitingReader,
  newProgress,
  type ReadsOptions,
  type RequestProgress,
} from './read-your-writes.ts';
import { recalledRecords } from './recalled-records.ts';
import type { RefusalQuota } from './refusal-quota.ts';
import { requestFingerprint } from './request-fingerprint.ts';
import type { Streams } from './streams.ts';

export interface RunOptions extends ReadsOptions {
  readonly streams: Streams;
  /**
   * Waits until this process itself has taken over a write to one of the aggregates that it
   * follows in memory, such as a revoked key.
   */
  readonly takenOver?: (category: string, position: Position) => Promise<void>;
  /** Bounds the refusals that are remembered; without it nothing does. */
  readonly refusals?: RefusalQuota;
  /** Bounds what requests put on the public stream; without it nothing does. */
  readonly publicBytes?: Pick<PublicBytesQuota, 'assertLeft'>;
  /** The writer and the tables of facts; without them no route may record or read any. */
  readonly facts?: { readonly writer: IntakeWriter; readonly reads: FactReadSide };
}

type Any = Aggregate<string, EventCatalogue, unknown>;

/** One request on its way through the engine: what its handler may do, and what it has done. */
export class RequestRunner implements RequestRun, RequestContext {
  readonly context: RequestContext = this;
  readonly principal: Principal;
  readonly requestId: string;
  readonly idempotencyKey: string | null;
  readonly receivedAt: Instant;
  readonly now: Instant;
  readonly read: Reader;
  readonly #options: RunOptions;
  readonly #request: BeginRequest;
  #idsGiven = 0;
  readonly #freshIds = new Set<string>();
  #ifMatch: number | null;
  readonly #progress: RequestProgress;

  constructor(
    options: RunOptions,
    request: BeginRequest,
    progress = newProgress(options.recentWrites.lastOf(request.principal.keyId)),
  ) {
    this.#progress = progress;
    this.#options = options;
    this.#request = request;
    this.principal = request.principal;
    this.requestId = request.requestId;
    this.idempotencyKey = request.idempotencyKey;
    this.receivedAt = request.receivedAt;
    this.now = options.streams.clock.now(request.principal.environmentId);
    this.#ifMatch = request.ifMatch;
    this.read = awaitingReader(options, request, progress, this.#isInLog.bind(this));
  }

  get position(): Position | null {
    return this.#progress.writtenAt ?? this.#progress.readAt;
  }

  get replayed(): boolean {
    // A key of our own is no business of the caller's.
    return this.#progress.replayed && this.idempotencyKey !== null;
  }

  get lagMilliseconds(): number | null {
    return this.#progress.lagMilliseconds;
  }

  within({ tenantId, environmentId }: Place): RequestContext {
    const principal = { ...this.principal, tenantId, environmentId };
    const request = { ...this.#request, principal, ifMatch: null };
    return new RequestRunner(this.#options, request, this.#progress);
  }

  beside(): CommandContext {
    const none = { idempotencyKey: null, madeKey: null, ifMatch: null, mayGoElsewhere: false };
    return new RequestRunner(this.#options, { ...this.#request, ...none });
  }

  newId<Prefix extends IdPrefix>(prefix: Prefix): Id<Prefix> {
    const key = this.#key;
    if (key === null) {
      const id = randomId(prefix, this.receivedAt);
      this.#freshIds.add(id);
      return id;
    }
    this.#idsGiven += 1;
    const { tenantId, environmentId } = this.principal;
    const { operation } = this.#request;
    return derivedId(prefix, [tenantId, environmentId, operation, key, this.#idsGiven].join('\n'));
  }

  async execute<Catalogue extends EventCatalogue, State>(
    aggregate: Aggregate<string, Catalogue, State>,
    id: string,
    decision: Prepared<Decision<State, EventOf<Catalogue>>>,
  ): Promise<Outcome<State, EventOf<Catalogue>>> {
    if (!isRecordId(id)) return this.#executeOnNothing(aggregate, await preparedFrom(decision));
    const { idempotencyKey, madeKey, mayGoElsewhere = false } = this.#request;
    const expectedRevision = this.#ifMatch;
    // The tag is that of the record the request is about, which a handler writes first.
    this.#ifMatch = null;
    const outcome = await runPrepared(
      this.#writer<State>(aggregate, id),
      this.#withinQuotas(decision as Prepared<Decision<State, RawEvent>>),
      {
        cause: this.#cause(aggregate),
        fingerprint: this.#fingerprint(),
        remembersEffectsOnly: idempotencyKey === null && !madeKey?.remembersRefusals,
        expectedRevision,
        // Nobody else can know an id that chance has made.
        isProbablyFirst: this.#freshIds.has(id),
        // What is written is written here: the rest of the request must follow it.
        mayGoElsewhere: mayGoElsewhere && this.#progress.writtenAt === null,
      },
    );
    this.#progress.replayed ||= outcome.replayed && !this.#isOwn(outcome);
    this.#note(outcome.position, outcome.events.length > 0);
    if (outcome.refusal) {
      if (!outcome.replayed) this.#options.refusals?.note(this.principal.tenantId);
      throw outcome.refusal;
    }
    if (outcome.events.length > 0) {
      await this.#options.takenOver?.(aggregate.name, outcome.position);
    }
    return outcome as Outcome<State, EventOf<Catalogue>>;
  }

  async carryOut(
    reaction: Reaction,
    id: string,
    { events, revision }: Outcome<unknown, EventOf<EventCatalogue>>,
  ): Promise<void> {
    const circumstances = {
      reader: () => this.read,
      factsOf: (_place: Place, upTo: Position | null) => this.#factsUpTo(upTo),
      correlationId: this.requestId,
      causationId: this.requestId,
      onWritten: (position: Position) => this.#note(position, true),
    };
    const first = revision - events.length + 1;
    try {
      for (const [index, event] of events.entries()) {
        const placed = { ...event, aggregate_id: id, revision: first + index };
        await react(this.#options.streams, reaction, placed, circumstances);
      }
    } catch {
      // The event is in the log, so the reaction will come to it, and report the fault.
    }
  }

  async load<Catalogue extends EventCatalogue, State>(
    aggregate: Aggregate<string, Catalogue, State>,
    id: string,
  ): Promise<State> {
    if (!isRecordId(id)) return aggregate.initial;
    return (await this.#writer<State>(aggregate, id).current()).state;
  }

  get recalled(): RecalledRecords {
    const { claims, remembered } = this.#options.streams;
    return recalledRecords({
      claims,
      remembered,
      writerOf: (aggregate, id) => this.#writer(aggregate, id),
      scopeOf: (aggregate) => this.#scope(aggregate),
      atLeast: this.#seen,
    });
  }

  /** The decision, for a tenant that has something left of its quotas. Repetitions decide nothing, and need nothing. */
  #withinQuotas<State>(
    decision: Prepared<Decision<State, RawEvent>>,
  ): Prepared<Decision<State, RawEvent>> {
    const { refusals, publicBytes } = this.#options;
    const { tenantId } = this.principal;
    return {
      prepare: async () => {
        const decide = await preparedFrom(decision);
        return (state, at) => {
          if (this.idempotencyKey !== null) refusals?.assertLeft(tenantId);
          publicBytes?.assertLeft(tenantId);
          return decide(state, at);
        };
      },
    };
  }

  /**
   * True for what this very request has done elsewhere, when its owner kept silent after it had carried it out: that is
   * no repetition to the caller, who asked once. A caller that repeats a request under one id may be told so as well.
   */
  #isOwn({ writtenBy }: CommandOutcome<unknown>): boolean {
    return this.#request.madeKey?.remembersRefusals === true && writtenBy === this.requestId;
  }

  /** A text that can be no id names no record: the decision on nothing says so in its own words. */
  #executeOnNothing<Catalogue extends EventCatalogue, State>(
    aggregate: Aggregate<string, Catalogue, State>,
    decide: Decision<State, EventOf<Catalogue>>,
  ): Outcome<State, EventOf<Catalogue>> {
    const events = decide(aggregate.initial, this.now);
    invariant(events.length === 0, 'a record was about to be created under an impossible id');
    return { state: aggregate.initial, events: [], revision: -1, replayed: false };
  }

  async record(intake: AnyIntake, texts: readonly string[]): Promise<void> {
    const { writer, reads } = this.#facts;
    const { environmentId, keyId } = this.principal;
    const cause = this.#cause({ scope: 'environment' });
    const position = await writer.record(intake, environmentId, cause, texts);
    const { writtenAt } = this.#progress;
    if (writtenAt === null || position > writtenAt) this.#progress.writtenAt = position;
    // The read models of records do not show facts: reads of those need not wait for them.
    reads.recent.note(keyId, position);
  }

  get facts(): FactReads {
    return this.#factsUpTo(null);
  }

  async factsByNow(): Promise<FactReads> {
    return this.#factsUpTo(await this.#options.streams.store.head());
  }

  part<Thing>(wanted: Part<Thing>): Thing {
    return this.#options.streams.parts.get(wanted);
  }

  #factsUpTo(position: Position | null): FactReads {
    const progress = this.#progress;
    return factReads({
      side: this.#facts.reads,
      store: this.#options.streams.store,
      caller: this.principal,
      minimumPosition: position ?? this.#request.minimumPosition,
      written: progress.writtenAt ?? progress.writtenBefore,
      onRead: (position) => {
        if (progress.readAt === null || position < progress.readAt) progress.readAt = position;
      },
    });
  }

  get #facts(): NonNullable<RunOptions['facts']> {
    const { facts } = this.#options;
    invariant(facts, 'no facts are recorded or read here');
    return facts;
  }

  history<Catalogue extends EventCatalogue, State>(
    aggregate: Aggregate<string, Catalogue, State>,
    id: string,
    range?: HistoryRange,
  ): AsyncIterable<HistoryEvent<EventOf<Catalogue>>> {
    const any: AnyAggregate = aggregate;
    const events = historyOf(this.#options.streams.store, any, this.#scope(any), id, range);
    return events as AsyncIterable<HistoryEvent<EventOf<Catalogue>>>;
  }

  chain<Catalogue extends EventCatalogue, State>(
    aggregate: Aggregate<string, Catalogue, State>,
    id: string,
    range?: HistoryRange,
  ): AsyncIterable<ChainLink<EventOf<Catalogue>>> {
    const any: AnyAggregate = aggregate;
    const links = chainOf(this.#options.streams.store, any, this.#scope(any), id, range);
    return links as AsyncIterable<ChainLink<EventOf<Catalogue>>>;
  }

  holderOf(aggregate: AnyAggregate, name: string, value: string): Promise<string | null> {
    return this.#options.streams.claims.holderOf(aggregate, this.#scope(aggregate), {
      name,
      value,
    });
  }

  /**
   * The position that memory must have come to: what the caller insists on, what it has written by way of another process, and what
   * tables have shown to this request. What was written in this process, whoever asked for it, is in memory since then.
   */
  get #seen(): Position {
    const { minimumPosition, principal } = this.#request;
    const elsewhere = this.#options.recentWrites.elsewhereOf(principal.keyId);
    return [minimumPosition, this.#progress.readAt].reduce<Position>(
      (last, each) => (each !== null && each > last ? each : last),
      elsewhere,
    );
  }

  /** The key that the request has, of its caller or of ours; null for one without. */
  get #key(): string | null {
    return this.idempotencyKey ?? this.#request.madeKey?.key ?? null;
  }

  #fingerprint(): RequestFingerprint | null {
    const { operation, fields } = this.#request;
    // A key that was made for one request cannot come with another body.
    return this.#key === null
      ? null
      : requestFingerprint(operation, this.#key, this.idempotencyKey === null ? {} : fields);
  }

  /** A log that cannot be asked does not say that a record is missing. */
  async #isInLog(aggregate: AnyAggregate, id: string): Promise<boolean> {
    if (!isRecordId(id)) return false;
    const stream = await this.#writer(aggregate, id)
      .current()
      .catch(() => null);
    return stream === null || stream.recordRevision >= 0;
  }

  #writer<State>(aggregate: unknown, id: string) {
    const any = aggregate as Any;
    return this.#options.streams.writer<State>(any, this.#scope(any), id);
  }

  #scope(aggregate: Pick<AnyAggregate, 'scope'>): string {
    return aggregate.scope === 'tenant' ? this.principal.tenantId : this.principal.environmentId;
  }

  #cause(aggregate: Pick<AnyAggregate, 'scope'>): Cause {
    const { tenantId, environmentId, userId, keyId } = this.principal;
    return {
      tenantId,
      environmentId: aggregate.scope === 'tenant' ? null : environmentId,
      actor: { user_id: userId, key_id: keyId },
      correlationId: this.requestId,
      causationId: this.requestId,
    };
  }

  /** A write that an earlier request has made, wherever, is the caller's as well: it is told its position again, and waits until reads show it. */
  #note(position: Position, isWrite: boolean): void {
    const progress = this.#progress;
    if (progress.writtenAt === null || position > progress.writtenAt) progress.writtenAt = position;
    if (isWrite) {
      this.#options.recentWrites.note(this.principal.keyId, position, this.#options.now());
    }
  }
}

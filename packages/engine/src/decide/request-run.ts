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
  Problem,
  randomId,
  type Stamped,
} from '@counterfoil/kernel';
import type {
  HistoryEvent,
  Outcome,
  Place,
  Prepared,
  Principal,
  Reader,
  RequestContext,
} from '../define/context.ts';
import type { BeginRequest, RequestRun } from '../http/host.ts';
import { belongsTo, stampedEvent } from '../log/decode.ts';
import { isRecordId } from '../log/stream-name.ts';
import type { Position, RequestFingerprint } from '../log/types.ts';
import { type Cause, preparedFrom, type RawEvent, type WriterOutcome } from './command.ts';
import type { RecentWrites } from './recent-writes.ts';
import { requestFingerprint } from './request-fingerprint.ts';
import type { StreamWriter } from './stream-writer.ts';
import { placeOf, type Streams } from './streams.ts';
import { readFailure } from './writer-problems.ts';

/** The time that a read waits for the read model to show what its caller has already seen. */
const implicitWaitMilliseconds = 1_000;
const explicitWaitMilliseconds = 2_000;

/** The read model, as far as a request needs it. */
export interface ReadSide {
  /** `atLeast`: tables that have not reached this position are refused with 503, not read. */
  reader(principal: Principal, options?: { readonly atLeast?: Position }): Reader;
  readonly projected: {
    position(): Position;
    waitFor(position: Position, timeoutMilliseconds: number): Promise<boolean>;
  };
  /** Position of a table that the others have left behind; null for one that is level. */
  behindAt?(table: string): Position | null;
  /** For how many milliseconds it has been left behind, at least; null for one that is level. */
  lagOf?(table: string): number | null;
}

export interface RunOptions {
  readonly streams: Streams;
  readonly readSide: ReadSide;
  readonly recentWrites: RecentWrites;
  readonly now: () => number;
  /**
   * Waits until this process itself has taken over a write to one of the aggregates that it
   * follows in memory, such as a revoked key.
   */
  readonly takenOver?: (category: string, position: Position) => Promise<void>;
}

type Any = Aggregate<string, EventCatalogue, unknown>;

/**
 * The outcome of a request with a key: the first one, when its stream has seen the key. Another process
 * may have answered it since we last read the stream, so what cannot be prepared makes us read again.
 */
async function firstOutcome<State>(
  writer: StreamWriter<State>,
  mark: RequestFingerprint,
  prepare: () => Promise<() => Promise<WriterOutcome<State>>>,
): Promise<WriterOutcome<State>> {
  const known = await writer.replay(mark);
  if (known) return known;
  let run: () => Promise<WriterOutcome<State>>;
  try {
    run = await prepare();
  } catch (reason) {
    await writer.current();
    const late = await writer.replay(mark);
    if (late) return late;
    throw reason;
  }
  return run();
}

/** The progress of a request, in all the places that it works in. */
interface Progress {
  replayed: boolean;
  lagMilliseconds: number | null;
  writtenAt: Position | null;
  readAt: Position | null;
}

/** One request on its way through the engine: what its handler may do, and what it has done. */
export class RequestRunner implements RequestRun, RequestContext {
  readonly context: RequestContext = this;
  readonly principal: Principal;
  readonly requestId: string;
  readonly idempotencyKey: string | null;
  readonly now: Instant;
  readonly read: Reader;
  readonly #options: RunOptions;
  readonly #request: BeginRequest;
  #idsGiven = 0;
  #ifMatch: number | null;
  readonly #progress: Progress;

  constructor(
    options: RunOptions,
    request: BeginRequest,
    progress: Progress = { replayed: false, lagMilliseconds: null, writtenAt: null, readAt: null },
  ) {
    this.#progress = progress;
    this.#options = options;
    this.#request = request;
    this.principal = request.principal;
    this.requestId = request.requestId;
    this.idempotencyKey = request.idempotencyKey;
    this.now = request.now;
    this.#ifMatch = request.ifMatch;
    const atLeast = request.minimumPosition;
    const reader = options.readSide.reader(request.principal, atLeast === null ? {} : { atLeast });
    this.read = this.#awaitingReader(reader);
  }

  get position(): Position | null {
    return this.#progress.writtenAt ?? this.#progress.readAt;
  }

  get replayed(): boolean {
    return this.#progress.replayed;
  }

  get lagMilliseconds(): number | null {
    return this.#progress.lagMilliseconds;
  }

  within({ tenantId, environmentId }: Place): RequestContext {
    const principal = { ...this.principal, tenantId, environmentId };
    const request = { ...this.#request, principal, ifMatch: null };
    return new RequestRunner(this.#options, request, this.#progress);
  }

  newId<Prefix extends IdPrefix>(prefix: Prefix): Id<Prefix> {
    const { idempotencyKey, operation } = this.#request;
    if (idempotencyKey === null) return randomId(prefix, this.now);
    this.#idsGiven += 1;
    const { tenantId, environmentId } = this.principal;
    return derivedId(
      prefix,
      [tenantId, environmentId, operation, idempotencyKey, this.#idsGiven].join('\n'),
    );
  }

  async execute<Catalogue extends EventCatalogue, State>(
    aggregate: Aggregate<string, Catalogue, State>,
    id: string,
    decision: Prepared<Decision<State, EventOf<Catalogue>>>,
  ): Promise<Outcome<State, EventOf<Catalogue>>> {
    if (!isRecordId(id)) return this.#executeOnNothing(aggregate, await preparedFrom(decision));
    const writer = this.#writer<State>(aggregate, id);
    const { idempotencyKey, operation, fields } = this.#request;
    const expectedRevision = this.#ifMatch;
    // The tag is that of the record the request is about, which a handler writes first.
    this.#ifMatch = null;
    const mark =
      idempotencyKey === null ? null : requestFingerprint(operation, idempotencyKey, fields);
    const prepared = async () => {
      const decide = (await preparedFrom(decision)) as Decision<State, RawEvent>;
      const cause = this.#cause(aggregate);
      return () => writer.run({ decide, cause, mark, expectedRevision });
    };
    const outcome = await (mark ? firstOutcome(writer, mark, prepared) : (await prepared())());
    this.#note(outcome);
    if (outcome.refusal) throw outcome.refusal;
    if (outcome.events.length > 0) {
      await this.#options.takenOver?.((aggregate as unknown as Any).name, outcome.position);
    }
    return outcome as Outcome<State, EventOf<Catalogue>>;
  }

  async load<Catalogue extends EventCatalogue, State>(
    aggregate: Aggregate<string, Catalogue, State>,
    id: string,
  ): Promise<State> {
    if (!isRecordId(id)) return aggregate.initial;
    return (await this.#writer<State>(aggregate, id).current()).state;
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

  async *history<Catalogue extends EventCatalogue, State>(
    aggregate: Aggregate<string, Catalogue, State>,
    id: string,
    options: { readonly from?: number; readonly maximum?: number } = {},
  ): AsyncIterable<HistoryEvent<EventOf<Catalogue>>> {
    if (!isRecordId(id)) return;
    const any = aggregate as unknown as Any;
    const { store } = this.#options.streams;
    const { name } = placeOf(any, this.#scope(any), id);
    try {
      for await (const event of store.readStream(name, options)) {
        if (!belongsTo(any, event)) continue;
        yield {
          ...(stampedEvent(any, event) as Stamped<EventOf<Catalogue>>),
          event_id: event.id,
          aggregate_id: id,
          revision: event.revision,
          position: String(event.position),
          hash: event.metadata.hash,
          previous_hash: event.metadata.prev,
        };
      }
    } catch (error) {
      throw readFailure(error);
    }
  }

  holderOf(aggregate: AnyAggregate, name: string, value: string): Promise<string | null> {
    return this.#options.streams.claims.holderOf(aggregate, this.#scope(aggregate), {
      name,
      value,
    });
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

  #note(outcome: WriterOutcome<unknown>): void {
    const { writtenAt } = this.#progress;
    this.#progress.replayed ||= outcome.replayed;
    if (writtenAt === null || outcome.position > writtenAt) {
      this.#progress.writtenAt = outcome.position;
    }
    if (outcome.events.length === 0 || outcome.replayed) return;
    this.#options.recentWrites.note(this.principal.keyId, outcome.position, this.#options.now());
  }

  /** A reader that first waits until the read model shows what the caller must see. */
  #awaitingReader(reader: Reader): Reader {
    return {
      find: async (table, key) => {
        await this.#awaitProjection(table.name);
        return (await reader.find(table, key)) ?? this.#nothingFound(table.name);
      },
      findMany: async (table, keys) => {
        await this.#awaitProjection(table.name);
        return reader.findMany(table, keys);
      },
      first: async (table, filters) => {
        await this.#awaitProjection(table.name);
        return (await reader.first(table, filters)) ?? this.#nothingFound(table.name);
      },
      list: async (table, request, filters) => {
        await this.#awaitProjection(table.name);
        return reader.list(table, request, filters);
      },
    };
  }

  async #awaitProjection(table: string): Promise<void> {
    const { readSide, recentWrites, now } = this.#options;
    const { minimumPosition } = this.#request;
    if (minimumPosition !== null) await this.#awaitExplicit(minimumPosition);
    const own = recentWrites.lastOf(this.principal.keyId);
    if (own !== null) await readSide.projected.waitFor(own, implicitWaitMilliseconds);
    const reached = readSide.projected.position();
    const progress = this.#progress;
    const lags = [
      progress.lagMilliseconds,
      recentWrites.lag(reached, now()),
      readSide.lagOf?.(table),
    ];
    const known = lags.filter((lag) => typeof lag === 'number');
    progress.lagMilliseconds = known.length === 0 ? null : Math.max(...known);
    // What is read afterwards shows at least this much of the log. A list of several tables shows
    // as much as the one that is furthest behind.
    const shown = readSide.behindAt?.(table) ?? reached;
    if (progress.readAt === null || shown < progress.readAt) progress.readAt = shown;
  }

  /**
   * Answers null, unless the table lacks what this caller wrote last: the record may be just that.
   */
  #nothingFound(table: string): null {
    const { readSide, recentWrites } = this.#options;
    const own = recentWrites.lastOf(this.principal.keyId);
    const shown = readSide.behindAt?.(table) ?? readSide.projected.position();
    if (own === null || shown >= own) return null;
    throw new Problem(
      'service_unavailable',
      'The read model does not show your last write yet. Retry shortly.',
      { retryAfterSeconds: 1, details: { minimum_position: String(own) } },
    );
  }

  async #awaitExplicit(position: Position): Promise<void> {
    if (await this.#options.readSide.projected.waitFor(position, explicitWaitMilliseconds)) return;
    throw new Problem(
      'service_unavailable',
      `The read model has not reached position ${position} yet. Retry shortly.`,
      { retryAfterSeconds: 1, details: { minimum_position: String(position) } },
    );
  }
}

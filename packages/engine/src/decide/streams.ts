import { randomUUID } from 'node:crypto';
import { type AnyAggregate, type Instant, instantOf } from '@counterfoil/kernel';
import { ReservationClaims } from '../constraints/claims.ts';
import { reservation } from '../constraints/reservation.ts';
import type { Clock } from '../define/clock.ts';
import { Parts } from '../define/part.ts';
import { parseStreamName } from '../log/stream-name.ts';
import type { EventStore } from '../log/types.ts';
import { StreamCache, type StreamCacheOptions } from '../stream-cache/stream-cache.ts';
import { placeOf, type StreamPlace } from '../stream-cache/stream-state.ts';
import { readAhead } from './read-ahead.ts';
import { RememberedEvents } from './remembered-events.ts';
import { StreamWriter, type WriterEnvironment } from './stream-writer.ts';

export interface StreamsOptions
  extends StreamCacheOptions,
    Pick<
      WriterEnvironment,
      'store' | 'doubtOfTime' | 'onBatch' | 'onConflict' | 'ownership' | 'patience'
    > {
  readonly store: EventStore;
  readonly aggregates: readonly AnyAggregate[];
  /** The system's time in milliseconds. */
  readonly now?: () => number;
  /** The time of billing; the system's unless given. */
  readonly clock?: Clock;
  /** The parts that the process is given from outside; each is the standard one unless given. */
  readonly parts?: Parts;
  readonly onLeftBehind?: (place: StreamPlace, error: unknown) => void;
}

/** The folded streams of a process, the writers of them, one per stream, and the claims they share. */
export interface Streams {
  writer<State>(aggregate: AnyAggregate, scope: string, id: string): StreamWriter<State>;
  /** Reads the long streams that were used last: see read-ahead.ts. */
  readAhead(): Promise<void>;
  readonly claims: ReservationClaims;
  readonly cache: StreamCache;
  readonly remembered: RememberedEvents;
  readonly store: EventStore;
  /** The clock that decisions about records of an environment are made by. */
  readonly clock: Clock;
  /** The parts that the process was given from outside. */
  readonly parts: Parts;
}

/** Makes the writers of a process; each is made when its stream is first asked for. */
export function createStreams(options: StreamsOptions): Streams {
  const { store, now = Date.now } = options;
  const systemNow = (): Instant => instantOf(now());
  const { clock = { now: systemNow }, parts = new Parts() } = options;
  const cache = new StreamCache(options);
  const aggregates = new Map<string, AnyAggregate>(
    [...options.aggregates, reservation].map((aggregate) => [aggregate.name, aggregate]),
  );
  // A writer lives as long as the stream that it writes.
  const writers = new WeakMap<object, unknown>();
  const writerOf = <State>(place: StreamPlace): StreamWriter<State> => {
    const stream = cache.of<State>(place);
    const known = writers.get(stream) as StreamWriter<State> | undefined;
    if (known) return known;
    const writer = new StreamWriter(environment, stream);
    writers.set(stream, writer);
    return writer;
  };
  const read = async (name: string): Promise<void> => {
    const parts = parseStreamName(name);
    const aggregate = parts && aggregates.get(parts.category);
    if (aggregate) await writerOf(placeOf(aggregate, parts.scope, parts.id)).current();
  };
  const claims = new ReservationClaims({
    ...options,
    writerOf,
    aggregateOf: (category) => aggregates.get(category),
    now,
  });
  const environment: WriterEnvironment = {
    ...options,
    now: ({ aggregate, scope }) => (aggregate.clock === 'system' ? systemNow() : clock.now(scope)),
    newEventId: randomUUID,
    acquireClaims: claims.acquire.bind(claims),
  };
  return {
    writer: (aggregate, scope, id) => writerOf(placeOf(aggregate, scope, id)),
    readAhead: async () => options.snapshots && readAhead(options.snapshots, read),
    claims,
    cache,
    remembered: new RememberedEvents(store),
    store,
    clock,
    parts,
  };
}

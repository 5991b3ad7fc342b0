import { randomUUID } from 'node:crypto';
import { type AnyAggregate, instantOf } from '@counterfoil/kernel';
import { LRUCache } from 'lru-cache';
import { ReservationClaims } from '../constraints/claims.ts';
import type { Claims } from '../constraints/lease.ts';
import { reservation } from '../constraints/reservation.ts';
import { streamName } from '../log/stream-name.ts';
import type { EventStore } from '../log/types.ts';
import { createGate } from '../stream-cache/gate.ts';
import type { Snapshots } from '../stream-cache/snapshot-folder.ts';
import { type WaypointOptions, Waypoints } from '../stream-cache/waypoints.ts';
import type { StreamPlace } from './command.ts';
import { StreamWriter } from './stream-writer.ts';
import { tooManyRepeated } from './writer-problems.ts';

/** Folded streams kept in memory when nothing is under way in them, and what they may take together. */
const idleStreamsMaximum = 20_000;
const idleBytesMaximum = 256 * 1024 ** 2;

const waypointDefaults = { spacing: 1_024, bytes: 64 * 1024 ** 2 } as const;
/** Long folds of old outcomes that are under way at once, and that wait for it. */
const longFoldLimits = { atOnce: 2, waiting: 64 } as const;

export interface StreamsOptions {
  readonly store: EventStore;
  readonly aggregates: readonly AnyAggregate[];
  readonly now?: () => number;
  readonly idleStreams?: number;
  readonly idleBytes?: number;
  readonly waypoints?: WaypointOptions;
  /** The store for snapshots of long streams; without it they are folded from their first event. */
  readonly snapshots?: Snapshots;
  readonly onBatch?: (commands: number, events: number) => void;
  readonly onConflict?: () => void;
  readonly onLeftBehind?: (place: StreamPlace, error: unknown) => void;
}

/** The writers of a process, one per stream, and the claims they share. */
export interface Streams {
  writer<State>(aggregate: AnyAggregate, scope: string, id: string): StreamWriter<State>;
  readonly claims: Claims;
  readonly store: EventStore;
}

/** Returns the place of a record's stream. */
export const placeOf = (aggregate: AnyAggregate, scope: string, id: string): StreamPlace => ({
  aggregate,
  name: streamName({ category: aggregate.name, scope, id }),
  scope,
  id,
});

/**
 * Keeps one writer per stream. A writer that is at work is never dropped, because a second one
 * beside it would only produce conflicts; idle ones are kept as long as there is room.
 */
export function createStreams(options: StreamsOptions): Streams {
  const now = options.now ?? Date.now;
  const aggregates = new Map<string, AnyAggregate>(
    [...options.aggregates, reservation].map((aggregate) => [aggregate.name, aggregate]),
  );
  const atWork = new Map<string, StreamWriter<unknown>>();
  const idleBytes = options.idleBytes ?? idleBytesMaximum;
  const writers = new LRUCache<string, StreamWriter<unknown>>({
    max: options.idleStreams ?? idleStreamsMaximum,
    maxSize: idleBytes,
    // What is heavier than all may be is still worth keeping while it is in use.
    sizeCalculation: (writer) => Math.min(writer.weigh(), idleBytes),
    dispose: (writer, name, reason) => {
      if (reason === 'evict' && !writer.isIdle) atWork.set(name, writer);
    },
  });

  // A cache weighs only what is new to it, and streams grow while they are in it.
  const weighed = new WeakMap<StreamWriter<unknown>, number>();
  const isHeavier = (writer: StreamWriter<unknown>): boolean =>
    writer.weigh() > 2 * (weighed.get(writer) ?? 0);
  const weigh = (name: string, writer: StreamWriter<unknown>): void => {
    weighed.set(writer, writer.weigh());
    writers.delete(name);
    writers.set(name, writer);
  };

  const writerOf = <State>(place: StreamPlace): StreamWriter<State> => {
    const known = writers.get(place.name) ?? atWork.get(place.name);
    if (known) {
      if (atWork.delete(place.name) || isHeavier(known)) weigh(place.name, known);
      return known as StreamWriter<State>;
    }
    for (const [name, writer] of atWork) if (writer.isIdle) atWork.delete(name);
    const writer = new StreamWriter<State>(environment, place);
    weigh(place.name, writer as StreamWriter<unknown>);
    return writer;
  };

  const claims = new ReservationClaims({
    store: options.store,
    writerOf,
    aggregateOf: (category) => aggregates.get(category),
    now,
    ...(options.onLeftBehind ? { onLeftBehind: options.onLeftBehind } : {}),
  });

  const environment = {
    store: options.store,
    waypoints: new Waypoints(options.waypoints ?? waypointDefaults),
    longFolds: createGate({ ...longFoldLimits, refusal: tooManyRepeated }),
    now: () => instantOf(now()),
    newEventId: randomUUID,
    acquireClaims: claims.acquire.bind(claims),
    ...(options.snapshots ? { snapshots: options.snapshots } : {}),
    ...(options.onBatch ? { onBatch: options.onBatch } : {}),
    ...(options.onConflict ? { onConflict: options.onConflict } : {}),
  };

  return {
    writer: (aggregate, scope, id) => writerOf(placeOf(aggregate, scope, id)),
    claims,
    store: options.store,
  };
}

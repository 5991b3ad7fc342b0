import type { AnyAggregate, EventCatalogue, EventOf } from '@counterfoil/kernel';
import type { ReactionEvent } from '../define/reaction.ts';
import { belongsTo, stampedEvent } from '../log/decode.ts';
import { eventsOf, isCaughtUp, positionAfter } from '../log/follow.ts';
import { categoryPrefix, parseStreamName } from '../log/stream-name.ts';
import type { EventStore, Position, StoredEvent } from '../log/types.ts';
import { PositionClock } from '../projection/projected-position.ts';

/** Items that one round takes over; the fold yields to requests between rounds. */
const batchMaximum = 500;

export interface LiveFoldOptions {
  readonly store: EventStore;
  /** Streams to follow, by prefix. */
  readonly prefixes: readonly string[];
  /** Takes over one event. It must not throw, and must ignore what it cannot use. */
  readonly apply: (event: StoredEvent) => void;
  readonly onLost?: (error: Error) => void;
  /** Told when the fold ends for another reason than `stop`. */
  readonly onFailed: (error: unknown) => void;
  /** Milliseconds that only ever rise. */
  readonly clock?: () => number;
}

/** Something in memory that follows the log, such as the API keys that may call. */
export interface LiveFold {
  /** Resolves when everything that was in the log at the start has been taken over. */
  readonly ready: Promise<void>;
  /** Waits for the fold to reach a position, within the time-out, and tells whether it has. */
  waitFor(position: Position, timeoutMilliseconds: number): Promise<boolean>;
  /**
   * The milliseconds for which the log has been away; 0 while it is followed. Events that were
   * written meanwhile are not in the fold.
   */
  lostFor(): number;
  stop(): Promise<void>;
}

/** Starts to follow the log from its beginning and keeps following it. */
export function startLiveFold(options: LiveFoldOptions): LiveFold {
  const abort = new AbortController();
  const reached = new PositionClock();
  const { clock = () => performance.now() } = options;
  let lostAt: number | null = null;
  const { promise: ready, resolve: becomeReady } = Promise.withResolvers<void>();

  const follow = async (): Promise<void> => {
    const subscription = {
      prefixes: options.prefixes,
      checkpoints: 'seldom' as const,
      after: () => reached.position(),
      signal: abort.signal,
      onLost: (error: Error) => {
        lostAt ??= clock();
        options.onLost?.(error);
      },
    };
    for await (const items of options.store.follow(subscription, batchMaximum)) {
      for (const event of eventsOf(items)) options.apply(event);
      if (isCaughtUp(items)) {
        // Only a subscription that has taken over everything is as good as the one before it.
        lostAt = null;
        becomeReady();
      }
      reached.set(positionAfter(items) ?? reached.position());
    }
  };

  const following = follow().catch((error: unknown) => {
    if (!abort.signal.aborted) options.onFailed(error);
  });

  return {
    ready,
    waitFor: (position, milliseconds) => reached.waitFor(position, milliseconds),
    lostFor: () => (lostAt === null ? 0 : clock() - lostAt),
    async stop() {
      abort.abort();
      await following;
    },
  };
}

/** Returns what a fold follows that takes over the events of some aggregates' records. */
export function eventsOfRecords(
  aggregates: readonly AnyAggregate[],
  apply: (event: ReactionEvent<EventOf<EventCatalogue>>) => void,
): Pick<LiveFoldOptions, 'prefixes' | 'apply'> {
  const byCategory = new Map(aggregates.map((aggregate) => [aggregate.name, aggregate]));
  return {
    prefixes: [...byCategory.keys()].map(categoryPrefix),
    apply: (event) => {
      const parts = parseStreamName(event.stream);
      const aggregate = parts && byCategory.get(parts.category);
      if (!aggregate || !belongsTo(aggregate, event)) return;
      const stamped = stampedEvent(aggregate, event);
      apply({ ...stamped, aggregate_id: parts.id, revision: event.revision });
    },
  };
}

import type { Reaction } from '../define/reaction.ts';
import type { Position } from '../log/types.ts';
import type { Metrics } from '../operations/metrics.ts';
import { reactionPlaces } from './reaction-place.ts';
import type { BackOffLimits } from './run-forever.ts';
import { type ReactionTools, RunningReaction } from './running-reaction.ts';

export interface ReactionsOptions extends Omit<ReactionTools, 'places' | 'retry' | 'onHandled'> {
  readonly database: string;
  readonly reactions: readonly Reaction[];
  readonly metrics?: Metrics;
  /** Waits before a record that is held back is tried again: 0.5 seconds to a minute unless given. */
  readonly retry?: BackOffLimits;
}

/** The reactions of a process, at work. */
export interface Reactions {
  /** Throws, saying which, while a reaction cannot go on or holds a record back. */
  check(): Promise<void>;
  /**
   * Waits until every event up to a position has been handled, but for those of records that are held back.
   * Returns the position of the last event that was written in doing so, 0 for none; null when it takes
   * longer, or the signal aborts.
   */
  handled(position: Position, milliseconds: number, signal: AbortSignal): Promise<Position | null>;
  /** Resolves when no event is being handled any more. */
  stop(): Promise<void>;
}

const retryDefault: BackOffLimits = { firstMilliseconds: 500, lastMilliseconds: 60_000 };

/**
 * Follows the log for each reaction, from the place where it was. Of all processes on one database
 * one works; two at once would do no harm.
 */
export function startReactions({ database, reactions, ...options }: ReactionsOptions): Reactions {
  const { metrics, retry = retryDefault } = options;
  const places = reactionPlaces(database);
  const counter = metrics?.counter({
    name: 'counterfoil_reaction_events_total',
    help: 'Events handled by reactions, by outcome',
    labels: ['reaction', 'outcome'],
  });
  const tools: ReactionTools = {
    ...options,
    places,
    retry,
    onHandled: (reaction, outcome) => counter?.inc({ reaction, outcome }),
  };
  const running = reactions.map((reaction) => new RunningReaction(tools, reaction));
  if (metrics) observe(metrics, running, options);
  const stopping = new AbortController();
  const ended = Promise.all(running.map((each) => each.run(stopping.signal)));
  return {
    async check() {
      if (!options.isActive()) return;
      for (const each of running) assertGoingOn(each);
    },
    async handled(position, milliseconds, signal) {
      const reached = running.map(({ reached }) => reached.waitFor(position, milliseconds, signal));
      if ((await Promise.all(reached)).includes(false)) return null;
      return running.reduce<Position>((last, { written }) => (written > last ? written : last), 0n);
    },
    async stop() {
      stopping.abort();
      await ended;
      await places.close();
    },
  };
}

function assertGoingOn({ reaction, failure, place }: RunningReaction): void {
  if (failure !== null) throw new Error(`Reaction ${reaction.name} cannot go on: ${failure}`);
  const [first] = place.heldBack;
  if (!first) return;
  const [stream, { revision, error }] = first;
  const count = place.heldBack.size;
  const records = count === 1 ? '1 record' : `${count} records`;
  throw new Error(
    `Reaction ${reaction.name} holds back ${records}: ${stream}@${revision}: ${error}`,
  );
}

function observe(
  metrics: Metrics,
  running: readonly RunningReaction[],
  { isActive, projected }: Pick<ReactionTools, 'isActive' | 'projected'>,
): void {
  metrics.gauge({
    name: 'counterfoil_reaction_lag_positions',
    help: 'Positions by which the read models are ahead of a reaction',
    labels: ['reaction'],
    collect: (gauge) => {
      for (const { reaction, place } of running) {
        const lag = isActive() ? projected.position() - place.position : 0n;
        gauge.set({ reaction: reaction.name }, lag > 0n ? Number(lag) : 0);
      }
    },
  });
  metrics.gauge({
    name: 'counterfoil_reaction_held_back',
    help: 'Records that a reaction holds back because one of their events failed',
    labels: ['reaction'],
    collect: (gauge) => {
      for (const { reaction, place } of running) {
        gauge.set({ reaction: reaction.name }, isActive() ? place.heldBack.size : 0);
      }
    },
  });
}

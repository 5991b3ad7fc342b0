import {
  aggregate,
  type Decision,
  type EventOf,
  type Instant,
  invalidOperation,
  notFound,
} from '@counterfoil/kernel';
import { z } from 'zod';

const text = <Kind extends string>() => z.string().transform((value) => value as Kind);

const events = {
  /** Usage of one source and one span is going to be brought, which waits until it is counted at once. */
  BackfillOpened: z.object({
    source: z.string(),
    start_time: text<Instant>(),
    end_time: text<Instant>(),
    description: z.string().nullable(),
  }),
  /** All that came to it before counts from this place in the log on. */
  BackfillClosed: z.object({}),
  /** Nothing of it ever counts. */
  BackfillReverted: z.object({}),
} as const;
export type BackfillEvent = EventOf<typeof events>;
export type BackfillTerms = z.output<typeof events.BackfillOpened>;

export const backfillStates = ['open', 'closed', 'reverted'] as const;

/** A backfill; null until it is opened. */
export type BackfillState =
  | (BackfillTerms & {
      readonly status: (typeof backfillStates)[number];
      readonly opened_at: Instant;
      readonly ended_at: Instant | null;
    })
  | null;
export type Backfill = NonNullable<BackfillState>;

/** Usage of a source and a span that is counted as a whole, or not at all. */
export const usageBackfill = aggregate({
  name: 'usage_backfill',
  scope: 'environment',
  events,
  initial: null as BackfillState,
  evolve: (state, event): BackfillState => {
    const { occurred_at } = event.stamp;
    switch (event.type) {
      case 'BackfillOpened':
        return { ...event.data, status: 'open', opened_at: occurred_at, ended_at: null };
      case 'BackfillClosed':
        return state && { ...state, status: 'closed', ended_at: occurred_at };
      case 'BackfillReverted':
        return state && { ...state, status: 'reverted', ended_at: occurred_at };
      default:
        return event satisfies never;
    }
  },
});

/** Opens a backfill (D52). */
export const openBackfill =
  (terms: BackfillTerms): Decision<BackfillState, BackfillEvent> =>
  (state) =>
    state ? [] : [{ type: 'BackfillOpened', data: terms }];

/** Counts all that has come to a backfill. A closed one stays as it is; a reverted one is refused. */
export const closeBackfill =
  (id: string): Decision<BackfillState, BackfillEvent> =>
  (state) => {
    const backfill = existingBackfill(id, state);
    if (backfill.status === 'closed') return [];
    requireOpen(backfill);
    return [{ type: 'BackfillClosed', data: {} }];
  };

/** Throws away what has come to an open backfill. A reverted one stays as it is; a closed one is refused. */
export const revertBackfill =
  (id: string): Decision<BackfillState, BackfillEvent> =>
  (state) => {
    const backfill = existingBackfill(id, state);
    if (backfill.status === 'reverted') return [];
    requireOpen(backfill);
    return [{ type: 'BackfillReverted', data: {} }];
  };

/** Throws 404 for none. */
export function existingBackfill(id: string, state: BackfillState): Backfill {
  if (!state) throw notFound('backfill', id);
  return state;
}

/** Refuses a backfill that has ended. */
export function requireOpen({ status, ended_at }: Backfill): void {
  switch (status) {
    case 'open':
      return;
    case 'closed':
      throw invalidOperation(
        `The backfill was closed at ${ended_at}, and its events count. Open another one for more; ` +
          'void single events to take them back.',
        { reason: 'ended' },
      );
    case 'reverted':
      throw invalidOperation(
        `The backfill was reverted at ${ended_at}, and nothing of it counts. Open another one.`,
        { reason: 'ended' },
      );
    default:
      status satisfies never;
  }
}

import { aggregate, type Decision, type EventOf, type Instant } from '@counterfoil/kernel';
import { z } from 'zod';

const events = {
  /** A usage event counts no more, as if it had never come; its id stays taken. */
  UsageVoided: z.object({ event_id: z.string(), reason: z.string().nullable() }),
} as const;
export type UsageVoidEvent = EventOf<typeof events>;

/** Null until the usage event is voided. */
export type UsageVoidState = {
  readonly event_id: string;
  readonly reason: string | null;
  readonly voided_at: Instant;
} | null;

/** The void of one usage event, in a stream that is named by the hash of its id. */
export const usageVoid = aggregate({
  name: 'usage_void',
  scope: 'environment',
  events,
  initial: null as UsageVoidState,
  evolve: (_, { data, stamp }): UsageVoidState => ({ ...data, voided_at: stamp.occurred_at }),
});

/** Voids a usage event (D52). Once it is void, another void changes nothing. */
export const voidUsage =
  (event_id: string, reason: string | null): Decision<UsageVoidState, UsageVoidEvent> =>
  (state) =>
    state ? [] : [{ type: 'UsageVoided', data: { event_id, reason } }];

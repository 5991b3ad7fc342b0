import {
  aggregate,
  type EventOf,
  existing,
  type Instant,
  instantSchema,
  invariant,
  type PlanSyncId,
  referenceSchema,
  type SubscriptionId,
} from '@counterfoil/kernel';
import { z } from 'zod';

const failureData = z.object({
  subscription_id: referenceSchema('subs'),
  message: z.string(),
});
/** A subscription that was left as it is, with what was in the way. */
export type SyncFailure = z.output<typeof failureData>;

const events = {
  PlanSyncRequested: z.object({
    id: referenceSchema('psync'),
    plan_id: referenceSchema('plan'),
    /** Nothing before this instant is charged otherwise. */
    at: instantSchema,
  }),
  PlanSyncAdvanced: z.object({
    id: referenceSchema('psync'),
    /** The last subscription that was looked at; null where there are none. */
    last: referenceSchema('subs').nullable(),
    checked: z.number().int(),
    changed: z.number().int(),
    failed: z.array(failureData),
    /** True where no subscription is left. */
    is_last: z.boolean(),
  }),
} as const;
export type PlanSyncEvent = EventOf<typeof events>;

/** Failures that are kept; beyond them they are counted. */
export const keptFailures = 100;

/** The latest synchronisation of a plan. */
export interface PlanSync {
  readonly id: PlanSyncId;
  readonly plan_id: string;
  readonly at: Instant;
  readonly state: 'running' | 'completed';
  readonly last: SubscriptionId | null;
  readonly checked: number;
  readonly changed: number;
  readonly failed: number;
  /** The first of those that failed. */
  readonly failures: readonly SyncFailure[];
  readonly completed_at: Instant | null;
}

/** Null until the subscriptions of the plan are synchronised for the first time. */
export type PlanSyncState = PlanSync | null;

/** The synchronisations of the subscriptions of one plan, one after the other: its id is that of the plan. */
export const planSync = aggregate({
  name: 'plan_sync',
  scope: 'environment',
  events,
  initial: null as PlanSyncState,
  evolve: (state, event): PlanSyncState => {
    switch (event.type) {
      case 'PlanSyncRequested': {
        const none = { last: null, checked: 0, changed: 0, failed: 0, failures: [] };
        return { ...event.data, ...none, state: 'running', completed_at: null };
      }
      case 'PlanSyncAdvanced': {
        const sync = existing(state, 'synchronisation');
        const { last, checked, changed, failed, is_last } = event.data;
        invariant(sync.id === event.data.id, `${sync.id} goes on as ${event.data.id}`);
        return {
          ...sync,
          state: is_last ? 'completed' : 'running',
          last: last ?? sync.last,
          checked: sync.checked + checked,
          changed: sync.changed + changed,
          failed: sync.failed + failed.length,
          failures: [...sync.failures, ...failed].slice(0, keptFailures),
          completed_at: is_last ? event.stamp.occurred_at : null,
        };
      }
      default:
        return event satisfies never;
    }
  },
});

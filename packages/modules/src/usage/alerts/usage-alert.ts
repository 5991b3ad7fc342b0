import {
  aggregate,
  type CustomerId,
  createdStamps,
  type DecimalText,
  type EventOf,
  existing,
  type FeatureId,
  type Instant,
  type MeterId,
  type RecordStamps,
  type RecordStatus,
  referenceSchema,
  type Span,
  type UsageAlertId,
  updatedStamps,
  withChanges,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type ResetPeriod, resetPeriodSchema } from '../../entitlements/index.ts';
import {
  limitData,
  type PlacedThreshold,
  type Threshold,
  thresholdData,
  type UsageLimit,
} from './thresholds.ts';

const instant = z.string().transform((text) => text as Instant);
const figure = z.string().transform((text) => text as DecimalText);

/** A period, its end excluded. */
const periodData = z.object({ start: instant, end: instant });

const settingsData = {
  limit: limitData.nullable(),
  thresholds: z.array(thresholdData),
} as const;

const events = {
  UsageAlertCreated: z.object({
    id: referenceSchema('alert'),
    customer_id: referenceSchema('cust'),
    /** Null where the meter was named itself. */
    feature_id: referenceSchema('feat').nullable(),
    meter_id: referenceSchema('meter'),
    /** That of the meter, which never changes. */
    event_name: z.string(),
    reset_period: resetPeriodSchema,
    /** The period that is looked at first; null for one that never ends. */
    period: periodData.nullable(),
    ...settingsData,
  }),
  /** Only what changed. */
  UsageAlertUpdated: z.object(settingsData).partial(),
  UsageAlertDeleted: z.object({}),
  /** The usage of the period was seen at or above a threshold, for the first time in it. */
  UsageThresholdCrossed: z.object({
    threshold: thresholdData,
    /** The usage at which it is crossed. */
    level: figure,
    /** The limit that a percentage is of. */
    limit: figure.nullable(),
    usage: figure,
    /** Everything in the log up to here was counted. */
    position: z.string(),
    period: periodData.nullable(),
  }),
  /** All that was recorded before the end of the period has been looked at. The next period begins with nothing crossed. */
  UsageAlertPeriodEnded: z.object({
    usage: figure.nullable(),
    position: z.string(),
    next: periodData,
  }),
} as const;
export type UsageAlertEvent = EventOf<typeof events>;

/** A threshold that was crossed in the period. */
export interface Crossed extends PlacedThreshold {
  readonly usage: DecimalText;
  readonly position: string;
  readonly crossed_at: Instant;
}

/** Thresholds of what a customer uses of a meter in a period. */
export interface UsageAlertRecord extends RecordStamps {
  readonly id: UsageAlertId;
  readonly status: RecordStatus;
  readonly customer_id: CustomerId;
  readonly feature_id: FeatureId | null;
  readonly meter_id: MeterId;
  readonly event_name: string;
  readonly reset_period: ResetPeriod;
  readonly limit: UsageLimit | null;
  readonly thresholds: readonly Threshold[];
  readonly period: Span | null;
  /** Those of this period, also ones that were removed since. */
  readonly crossed: readonly Crossed[];
}

/** Null until the alert is created. */
export type UsageAlertState = UsageAlertRecord | null;

const isInUse = (state: UsageAlertState): state is UsageAlertRecord =>
  state?.status === 'published';

/** Thresholds of the usage of one customer. Customer and feature stay as long as it is in use. */
export const usageAlert = aggregate({
  name: 'usage_alert',
  scope: 'environment',
  events,
  initial: null as UsageAlertState,
  evolve: (state, event): UsageAlertState => {
    const { stamp } = event;
    switch (event.type) {
      case 'UsageAlertCreated':
        return { ...event.data, status: 'published', crossed: [], ...createdStamps(stamp) };
      case 'UsageAlertUpdated':
        return {
          ...withChanges<UsageAlertRecord>(existing(state, 'usage alert'), event.data),
          ...updatedStamps(stamp),
        };
      case 'UsageAlertDeleted':
        return { ...existing(state, 'usage alert'), ...updatedStamps(stamp), status: 'deleted' };
      case 'UsageThresholdCrossed': {
        const { threshold, level, usage, position } = event.data;
        const before = existing(state, 'usage alert');
        const crossed = { threshold, level, usage, position, crossed_at: stamp.occurred_at };
        return { ...before, crossed: [...before.crossed, crossed] };
      }
      case 'UsageAlertPeriodEnded':
        return { ...existing(state, 'usage alert'), period: event.data.next, crossed: [] };
      default:
        return event satisfies never;
    }
  },
  isReferable: isInUse,
  isRemoved: (state) => state !== null && !isInUse(state),
  refersTo: (state) => {
    if (!isInUse(state)) return [];
    const { customer_id, feature_id, meter_id } = state;
    const measured =
      feature_id === null
        ? { category: 'meter', id: meter_id, what: 'meter' }
        : { category: 'feature', id: feature_id, what: 'feature' };
    return [{ category: 'customer', id: customer_id, what: 'customer' }, measured];
  },
});

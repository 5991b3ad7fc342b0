import {
  type Changes,
  canonicalJson,
  changedFields,
  type DecimalText,
  type Decision,
  invalidField,
  invariant,
  isEmpty,
  type Span,
  type UsageAlertId,
  withChanges,
  writable,
} from '@counterfoil/kernel';
import { levelOf, newlyCrossed } from './thresholds.ts';
import type { UsageAlertEvent, UsageAlertRecord, UsageAlertState } from './usage-alert.ts';

type Command = Decision<UsageAlertState, UsageAlertEvent>;

/** A usage alert as it is created. */
export type NewUsageAlert = Extract<
  UsageAlertEvent,
  { readonly type: 'UsageAlertCreated' }
>['data'];

/** The fields that an update may change: a list of thresholds replaces the one before. */
export type UsageAlertSettings = Pick<UsageAlertRecord, 'limit' | 'thresholds'>;

/** Refuses percentages of nothing, and a threshold that is there twice. */
function assertConsistent({ limit, thresholds }: UsageAlertSettings): void {
  for (const [index, threshold] of thresholds.entries()) {
    if (levelOf(threshold, limit) === null) {
      throw invalidField('/usage_limit', 'is needed for a threshold in percent');
    }
    const same = ({ type, value }: typeof threshold): boolean =>
      type === threshold.type && value === threshold.value;
    if (thresholds.findIndex(same) < index) {
      throw invalidField(`/thresholds/${index}`, 'is there twice');
    }
  }
}

/** Creates a usage alert. 400 where a percentage has no limit, or a threshold is there twice. */
export const createUsageAlert =
  (data: NewUsageAlert): Command =>
  (state) => {
    invariant(state === null, `usage alert ${data.id} is created twice`);
    assertConsistent(data);
    return [{ type: 'UsageAlertCreated', data }];
  };

/** Changes what is given and differs. A threshold whose usage changes is another one, which can be crossed anew. */
export const updateUsageAlert =
  (id: UsageAlertId, given: Changes<UsageAlertSettings>): Command =>
  (state) => {
    const before = writable(state, 'usage alert', id);
    const { limit, thresholds } = before;
    const settings: UsageAlertSettings = { limit, thresholds };
    const changes = changedFields<UsageAlertSettings>(settings, given);
    if (isEmpty(changes)) return [];
    assertConsistent(withChanges<UsageAlertSettings>(settings, changes));
    return [{ type: 'UsageAlertUpdated', data: changes as Partial<NewUsageAlert> }];
  };

/** Deletes a usage alert, for good. */
export const deleteUsageAlert =
  (id: UsageAlertId): Command =>
  (state) => {
    writable(state, 'usage alert', id);
    return [{ type: 'UsageAlertDeleted', data: {} }];
  };

/** The usage of a period, as it was seen. */
export interface SeenUsage {
  readonly period: Span | null;
  readonly usage: DecimalText | null;
  /** Everything in the log up to here was counted. */
  readonly position: string;
  /** The period that follows, once this one is over and everything recorded in it was counted; else null. */
  readonly next: Span | null;
}

/**
 * Notes what a look at the usage of a period has seen: every threshold that it is at or above, once in the period,
 * and the end of the period. A look at another period than the one that runs changes nothing.
 */
export const noteUsage =
  ({ period, usage, position, next }: SeenUsage): Command =>
  (state) => {
    if (state?.status !== 'published') return [];
    if (canonicalJson(state.period) !== canonicalJson(period)) return [];
    const { limit, thresholds, crossed: before } = state;
    const crossed = newlyCrossed(thresholds, limit, usage, before).map(
      ({ threshold, level }): UsageAlertEvent => {
        invariant(usage !== null, 'nothing crosses no threshold');
        const data = { threshold, level, limit: limit?.value ?? null, usage, position, period };
        return { type: 'UsageThresholdCrossed', data };
      },
    );
    if (next === null) return crossed;
    return [...crossed, { type: 'UsageAlertPeriodEnded', data: { usage, position, next } }];
  };

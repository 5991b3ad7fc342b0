import { type Instant, millisecondsOf, type Span, shiftedBy } from '@counterfoil/kernel';
import { type Order, startOf } from '../creation/order.ts';
import { lineDates } from '../creation/ordered-line.ts';
import type { CreatedData, StartData } from '../events.ts';
import { pausedSpans } from '../pauses/pause.ts';
import type { Subscription } from '../subscription.ts';
import { type Cycle, periodOf, wholePeriodOf } from '../time/cycle.ts';
import { nextPeriod } from '../time/steps.ts';

type Target = Pick<CreatedData, 'billing_cycle' | 'billing_anchor' | 'timezone' | 'end_date'> & {
  readonly rhythm: Order['rhythm'];
};

/**
 * Decides when the periods of a subscription begin that follows on another one (D65). With the same rhythm the anchor
 * stays and the first period is the rest of the one that runs; otherwise a new cycle begins with it. It has no trial.
 */
export function startOfChange(current: Subscription, target: Target, at: Instant): StartData {
  if (!keepsCycle(current, target)) return startOf({ ...target, trial_days: null }, at, at);
  return { start_date: at, trial: null, cycle: restOfCycle(current, at) };
}

/** Tells whether a subscription goes on in the rhythm of the one that it follows on. */
export const keepsCycle = (
  { cycle, billing_cycle, subscription_status }: Subscription,
  target: Pick<Target, 'billing_cycle' | 'rhythm'>,
): boolean =>
  subscription_status === 'active' &&
  billing_cycle === target.billing_cycle &&
  cycle.unit === target.rhythm.unit &&
  cycle.count === target.rhythm.count;

function restOfCycle(current: Subscription, at: Instant): Cycle {
  const { anchor, unit, count } = current.cycle;
  const uncut = { ...current, end_date: null };
  const { index } = current.opened ?? nextPeriod(uncut);
  const { end } = periodOf(uncut, index);
  const whole = withoutPauses(current, wholePeriodOf(current, index));
  return { anchor, unit, count, start: at, first_index: 0, first: { end, whole } };
}

/** A period as long as it would be without the pauses in it, which the subscription to come knows nothing of. */
const withoutPauses = (current: Subscription, { start, end }: Span): Span => ({
  start: pausedSpans(current).reduce((from, pause) => {
    if (pause.start < start || pause.start >= end) return from;
    return shiftedBy(from, millisecondsOf(pause.end) - millisecondsOf(pause.start));
  }, start),
  end,
});

/** A subscription that was to begin at one instant, as it begins at another one. */
export function datedAt(to: CreatedData, start: StartData): CreatedData {
  const { start: before } = to.cycle;
  return {
    ...to,
    ...start,
    lines: to.lines.map((line) => {
      const from = line.start_date === before ? null : line.start_date;
      return { ...line, ...lineDates(start, to.timezone, { ...line, from }) };
    }),
    addons: to.addons.map((addon) =>
      addon.start_date === before ? { ...addon, start_date: start.cycle.start } : addon,
    ),
    grants: to.grants.map((grant) =>
      grant.start_date === before ? { ...grant, start_date: start.cycle.start } : grant,
    ),
  };
}

/** The subscription that one follows on after a change of plan; null for none. */
export const subscriptionBefore = ({ follows }: Pick<CreatedData, 'follows'>): string | null =>
  follows?.subscription_id ?? null;

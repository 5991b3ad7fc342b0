import {
  type Instant,
  invalidField,
  invalidOperation,
  invariant,
  laterOf,
  shiftedBy,
} from '@counterfoil/kernel';
import { addonDates, addonLineDates } from '../addons/ordered-addon.ts';
import { lineDates } from '../creation/ordered-line.ts';
import { acting, type SubscriptionDecision } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import { applicationOf } from '../grants/grant.ts';
import { comingPhases } from '../phases/phase.ts';
import { assertAfterTrial } from '../phases/prepare.ts';
import { foldInto, type Subscription } from '../subscription.ts';
import { anchorOf, type Cycle } from '../time/cycle.ts';
import { dueEvents } from '../time/due.ts';

/** Days that a trial lasts at most, from its start. */
const maximumTrialDays = 3650;

const dayMilliseconds = 24 * 60 * 60 * 1000;
const pointer = '/trial_end_params/new_trial_end';

/** The end of a trial as it is asked for. */
export interface TrialEnd {
  /** Null: now. */
  readonly end: Instant | null;
  /** The instant of a quote, which is now for it; null: there is none. */
  readonly quoted: Instant | null;
}

type TrialMoved = Extract<SubscriptionEvent, { type: 'TrialMoved' }>;

/**
 * Ends the trial that runs at another instant, or now (E 10.4). Everything that begins with its end moves with it: the rhythm of
 * the periods, the lines and the grants of credits. Ended now, the first period is opened and charged in the same decision.
 */
export const moveTrialEnd =
  (id: string, { end, quoted }: TrialEnd): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      const at = quoted ?? now;
      const to = end ?? at;
      assertMovable(current, to, at);
      if (to === current.trial?.end) return [];
      const moved = trialMoved(current, to);
      return [moved, ...dueEvents(foldInto(current, moved), now)];
    });

function assertMovable(current: Subscription, end: Instant, at: Instant): void {
  const { id, subscription_status: status, trial, cancellation, end_date } = current;
  if (status !== 'trialing' || trial === null) {
    throw invalidOperation(`Subscription ${id} is ${status}: it has no trial that runs.`, {
      reason: 'inactive',
    });
  }
  if (cancellation !== null) {
    throw invalidOperation(`Subscription ${id} is to be cancelled: take that back first.`, {
      reason: 'exists',
    });
  }
  if (end < at) throw invalidField(pointer, 'must not lie in the past');
  assertAfterTrial(comingPhases(current.phases), end, () => pointer);
  if (end <= trial.start) {
    throw invalidField(pointer, `must be after the start of the trial, ${trial.start}`);
  }
  if (end_date !== null && end >= end_date) {
    throw invalidField(pointer, `must be before the end of the subscription, ${end_date}`);
  }
  if (end > shiftedBy(trial.start, maximumTrialDays * dayMilliseconds)) {
    throw invalidField(pointer, `must not be more than ${maximumTrialDays} days after its start`);
  }
}

/** Another end of a trial, with everything that it moves. */
function trialMoved(current: Subscription, end: Instant): TrialMoved {
  const { trial, cycle: before, billing_cycle, billing_anchor: asked, timezone: zone } = current;
  invariant(trial, `${current.id}: a trial moves that it does not have`);
  const { unit, count, first_index } = before;
  const anchor = anchorOf(end, billing_cycle, { unit, zone, asked });
  const cycle: Cycle = { unit, count, anchor, start: end, first_index };
  const host = { ...current, cycle, opened: null };
  const addons = current.addons
    .filter(({ cadence, addon_status }) => cadence === 'onetime' && addon_status !== 'cancelled')
    .filter(({ cancelled_at }) => cancelled_at === null)
    .map(({ id, start_date }) => ({ id, ...addonDates(host, 'onetime', start_date, '') }));
  return {
    type: 'TrialMoved',
    data: {
      trial: { start: trial.start, end },
      cycle,
      period: current.opened && { ...current.opened, end },
      addons,
      lines: linesMoved(current, cycle, addons),
      grants: grantsMoved(current, cycle),
    },
  };
}

/** The dates of lines: what was to begin with the end of the trial does so, and the rest not before it. */
function linesMoved(
  current: Subscription,
  cycle: Cycle,
  moved: TrialMoved['data']['addons'],
): TrialMoved['data']['lines'] {
  const host = { ...current, cycle };
  return current.lines.map((line) => {
    const from = line.start_date === current.cycle.start ? null : line.start_date;
    const addon =
      moved.find(({ id }) => id === line.addon_association_id) ??
      current.addons.find(({ id }) => id === line.addon_association_id);
    const dates = addon
      ? addonLineDates(host, addon, { ...line, from })
      : lineDates(host, current.timezone, { ...line, from });
    // One that ended before it began, as for a line in its place, is never charged.
    const isOver = line.end_date !== null && line.end_date <= line.start_date;
    return { id: line.id, ...dates, ...(isOver && { end_date: dates.start_date }) };
  });
}

/** The dates of grants, of which none was given yet. Throws a Problem for one that would end before it gives anything. */
function grantsMoved(
  { grants, addons, cycle: before, timezone: zone }: Subscription,
  { start }: Cycle,
): TrialMoved['data']['grants'] {
  return grants.map((grant) => {
    const addon = addons.find(({ id }) => id === grant.addon_association_id);
    const own = grant.start_date === before.start ? start : grant.start_date;
    const start_date = laterOf(addon?.start_date ?? own, start);
    const first = applicationOf({ ...grant, start_date }, 0, zone);
    if (grant.end_date !== null && (first.period_end ?? first.period_start) > grant.end_date) {
      throw invalidField(pointer, `is too late for the credits of ${grant.id}, which end before`);
    }
    return { id: grant.id, start_date, first };
  });
}

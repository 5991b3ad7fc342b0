import {
  type Changes,
  changedFields,
  type Decision,
  type Instant,
  invalidField,
  invalidOperation,
  invariant,
  isEmpty,
  laterOf,
  notFound,
  Problem,
  type ScheduleId,
} from '@counterfoil/kernel';
import { addonDates, addonLineDates } from './addons/ordered-addon.ts';
import { createdData, type Order, startOf } from './creation/order.ts';
import { lineDates } from './creation/ordered-line.ts';
import type { Changeable, SubscriptionEvent } from './events.ts';
import { assertNotInherited, toldToHeirs } from './families/following.ts';
import { applicationOf } from './grants/grant.ts';
import {
  type ChargeInvoiced,
  type ChargeReturned,
  runningCharges,
  runningReturns,
} from './lines/charged.ts';
import { pendingPause } from './pauses/pause.ts';
import {
  type AwaitedSettlement,
  blankSubscription,
  foldAll,
  foldInto,
  type Subscription,
  type SubscriptionState,
} from './subscription.ts';
import { dueEvents, endingEvents } from './time/due.ts';
import { isLive, nextStep } from './time/steps.ts';
import type { CancellationType, ProrationBehavior } from './values.ts';

export type SubscriptionDecision = Decision<SubscriptionState, SubscriptionEvent>;

/** Creates a subscription, with all that has happened to it by now. */
export const createSubscription =
  (order: Order): SubscriptionDecision =>
  (state, at) => {
    invariant(state === null, `subscription ${order.id} is created twice`);
    const data = createdData(order, at);
    const created: SubscriptionEvent = { type: 'SubscriptionCreated', data };
    return toldToHeirs(null, [created, ...dueEvents(blankSubscription(data, at), at)]);
  };

/** Starts a draft (specification §4.14, E 10.3 B): its start, trial, periods and lines are decided anew. */
export const activateSubscription =
  (id: string, start: Instant | null): SubscriptionDecision =>
  (state, at) => {
    const draft = existingSubscription(state, id);
    assertNotInherited(draft);
    if (draft.subscription_status !== 'draft') {
      throw invalidOperation(
        `Subscription ${id} is ${draft.subscription_status}: only a draft can be activated.`,
        { reason: 'inactive' },
      );
    }
    const { cycle, timezone } = draft;
    const rhythm = { unit: cycle.unit, count: cycle.count };
    const started = startOf({ ...draft, rhythm }, start ?? at, at);
    const host = { ...draft, ...started };
    const addons = draft.addons.map(({ id: addonId, cadence, start_date }) => {
      const from = start_date === draft.start_date ? started.start_date : start_date;
      const begins = laterOf(from, started.start_date);
      return { id: addonId, ...addonDates(host, cadence, begins, '') };
    });
    const lines = draft.lines.map((line) => {
      // A line that was to begin with the subscription does so; another one keeps its own day.
      const from = line.start_date === cycle.start ? null : line.start_date;
      const addon = addons.find((each) => each.id === line.addon_association_id);
      const dates = addon
        ? addonLineDates(host, addon, { ...line, from })
        : lineDates(started, timezone, { ...line, from });
      return { id: line.id, ...dates };
    });
    const activated: SubscriptionEvent = {
      type: 'SubscriptionActivated',
      data: {
        ...started,
        lines,
        addons,
        coupons: draft.coupons
          .filter((coupon) => coupon.start_date === draft.start_date)
          .map((coupon) => ({ id: coupon.id, start_date: started.start_date })),
        grants: draft.grants.map((grant) => {
          const addon = addons.find((each) => each.id === grant.addon_association_id);
          const { start } = started.cycle;
          // A grant that was to begin with the first period does so; another one keeps its own day.
          const own = grant.start_date === cycle.start ? start : grant.start_date;
          const start_date = laterOf(addon?.start_date ?? own, start);
          const first = applicationOf({ ...grant, start_date }, 0, timezone);
          return { id: grant.id, start_date, first };
        }),
      },
    };
    return toldToHeirs(draft, [activated, ...dueEvents(foldInto(draft, activated, at), at)]);
  };

/** Takes the steps whose time has come, as many as one command takes (ADR 41, E 10.5 B). Nothing due, no events. */
export const takeDue =
  (id: string): SubscriptionDecision =>
  (state, at) => {
    if (!state || !isLive(state)) return [];
    invariant(state.id === id, `subscription ${state.id} was asked as ${id}`);
    return toldToHeirs(state, dueEvents(state, at));
  };

/** Notes what charges came to on an invoice that is final. None of them runs any more, no event. */
export const noteInvoiced =
  (invoice_id: string, charges: readonly ChargeInvoiced[]): SubscriptionDecision =>
  (state) => {
    const running = state === null ? [] : runningCharges(state.lines, charges);
    if (running.length === 0) return [];
    const data = { invoice_id, charges: running.map((each) => ({ ...each })) };
    return [{ type: 'ChargesInvoiced', data } as SubscriptionEvent];
  };

/** Notes what a credit note has given back of charges. None of them runs any more, no event. */
export const noteReturned =
  (
    invoice_id: string,
    credit_note_id: string | null,
    charges: readonly ChargeReturned[],
  ): SubscriptionDecision =>
  (state) => {
    const running = state === null ? [] : runningReturns(state.lines, { invoice_id, charges });
    if (running.length === 0) return [];
    const data = { invoice_id, credit_note_id, charges: running.map((each) => ({ ...each })) };
    return [{ type: 'ChargesReturned', data } as SubscriptionEvent];
  };

/**
 * Notes that nothing is owed any more for the first period: the subscription is active, and takes what has waited for that. Only one that
 * waits for just that settlement is changed (E 10.1 B).
 */
export const noteFirstPayment =
  (invoice_id: string, isPaid: (awaited: AwaitedSettlement) => boolean): SubscriptionDecision =>
  (state, at) => {
    if (!isWaitingFor(state, isPaid)) return [];
    const made: SubscriptionEvent = { type: 'FirstPaymentMade', data: { at, invoice_id } };
    return toldToHeirs(state, [made, ...dueEvents(foldInto(state, made, at), at)]);
  };

/** Ends a subscription whose first invoice is void: nothing more is billed. Only one that waits for just that is changed. */
export const endUnpaid =
  (isVoid: (awaited: AwaitedSettlement) => boolean): SubscriptionDecision =>
  (state, at) =>
    isWaitingFor(state, isVoid)
      ? toldToHeirs(
          state,
          endingEvents(state, at, {
            proration_behavior: 'none',
            skips_arrears: true,
            reason: 'The first invoice was not paid',
            cause: 'unpaid',
          }),
        )
      : [];

const isWaitingFor = (
  state: SubscriptionState,
  isIt: (awaited: AwaitedSettlement) => boolean,
): state is Subscription =>
  state?.subscription_status === 'incomplete' && state.awaits !== null && isIt(state.awaits);

/** Changes what a caller may change at any time. No event when nothing changes. */
export const changeSubscription =
  (id: string, changes: Changes<Changeable>): SubscriptionDecision =>
  (state) => {
    const changed = changedFields<Changeable>(existingSubscription(state, id), changes);
    return isEmpty(changed) ? [] : [{ type: 'SubscriptionUpdated', data: { changes: changed } }];
  };

/** Gives a draft up (D69). */
export const deleteDraft =
  (id: string): SubscriptionDecision =>
  (state) => {
    const draft = existingSubscription(state, id);
    assertNotInherited(draft);
    if (draft.subscription_status === 'draft') {
      return toldToHeirs(draft, [{ type: 'SubscriptionDeleted', data: {} }]);
    }
    throw invalidOperation(`Subscription ${id} is no draft: cancel it instead.`, {
      reason: 'immutable',
    });
  };

/** A cancellation as it is asked for. */
export interface Cancellation {
  readonly cancellation_type: CancellationType;
  readonly cancel_at: Instant | null;
  readonly proration_behavior: ProrationBehavior;
  readonly skips_arrears: boolean;
  readonly reason: string | null;
  /** The id of its schedule, where it is one that comes later. */
  readonly schedule_id: ScheduleId;
}

/** Cancels a subscription, now or later (E 10.7, D68). A later one takes the place of one that was scheduled before. */
export const cancelSubscription =
  (id: string, asked: Cancellation): SubscriptionDecision =>
  (state, at) =>
    asked.cancellation_type === 'immediate'
      ? actingOnAny(state, id, at, (current) => cancelledNow(current, asked, at))
      : acting(state, id, at, (current) => scheduled(current, asked, at));

function cancelledNow(
  subscription: Subscription,
  { cancel_at, ...asked }: Cancellation,
  at: Instant,
): readonly SubscriptionEvent[] {
  const effective = cancel_at ?? at;
  const { opened } = subscription;
  const pause = pendingPause(subscription);
  if (pause?.status === 'active' && effective < pause.start) {
    throw invalidField('/cancel_at', `must not be before the pause that runs, ${pause.start}`);
  }
  if (effective > at) {
    throw invalidField('/cancel_at', 'lies ahead: choose cancellation_type scheduled_date');
  }
  if (effective < at && (opened === null || effective <= opened.start)) {
    throw invalidField('/cancel_at', 'must lie in the period that runs');
  }
  return endingEvents(subscription, effective, { ...asked, cause: 'request' });
}

function scheduled(
  subscription: Subscription,
  asked: Cancellation,
  at: Instant,
): readonly SubscriptionEvent[] {
  const { opened, end_date, cancellation } = subscription;
  const isEndOfPeriod = asked.cancellation_type === 'end_of_period';
  if (isEndOfPeriod && opened === null) {
    throw invalidOperation(`Subscription ${subscription.id} has not begun: no period ends yet.`, {
      reason: 'inactive',
    });
  }
  const cancel_at = (isEndOfPeriod ? opened?.end : asked.cancel_at) ?? at;
  // The end of a period that a pause holds up comes after the pause, whatever its date is by now.
  const isHeld = isEndOfPeriod && subscription.subscription_status === 'paused';
  if (cancel_at <= at && !isHeld) throw invalidField('/cancel_at', 'must lie ahead');
  if (end_date !== null && cancel_at > end_date) {
    throw invalidField('/cancel_at', `must not be after the end of the subscription, ${end_date}`);
  }
  const isSame =
    cancellation !== null &&
    cancellation.cancel_at === cancel_at &&
    cancellation.cancellation_type === asked.cancellation_type &&
    cancellation.proration_behavior === asked.proration_behavior &&
    cancellation.skips_arrears === asked.skips_arrears &&
    cancellation.reason === asked.reason;
  const replaces = cancellation?.schedule_id ?? null;
  return isSame ? [] : [{ type: 'CancellationScheduled', data: { ...asked, cancel_at, replaces } }];
}

/** Takes a scheduled cancellation back. None scheduled, no event. */
export const revertCancellation =
  (id: string): SubscriptionDecision =>
  (state, at) =>
    acting(state, id, at, ({ cancellation }) =>
      cancellation === null
        ? []
        : [{ type: 'CancellationReverted', data: { schedule_id: cancellation.schedule_id } }],
    );

/**
 * Does something to a subscription that lives and is paid for, after all that has happened to it by now (ADR 41).
 *
 * @throws a Problem for one that is a draft, cancelled or incomplete, and 503 while more steps are due than one command takes
 */
export const acting = (
  state: SubscriptionState,
  id: string,
  at: Instant,
  act: (current: Subscription) => readonly SubscriptionEvent[],
): readonly SubscriptionEvent[] =>
  actingOnAny(state, id, at, (current) => {
    if (current.subscription_status === 'incomplete') {
      throw invalidOperation(
        `Subscription ${id} waits for its first payment. Pay its invoice, or cancel it at once.`,
        { reason: 'incomplete' },
      );
    }
    return act(current);
  });

/** The same, to one that waits for its first payment too. */
function actingOnAny(
  state: SubscriptionState,
  id: string,
  at: Instant,
  act: (current: Subscription) => readonly SubscriptionEvent[],
): readonly SubscriptionEvent[] {
  const before = existingSubscription(state, id);
  assertNotInherited(before);
  const due = isLive(before) ? dueEvents(before, at) : [];
  const current = foldAll(before, due);
  if (!isLive(current)) {
    throw invalidOperation(`Subscription ${id} is ${current.subscription_status}.`, {
      reason: 'inactive',
    });
  }
  const next = nextStep(current);
  if (next !== null && next.at <= at) {
    throw new Problem('service_unavailable', `Subscription ${id} is catching up: try again.`, {
      retryAfterSeconds: 1,
    });
  }
  return toldToHeirs(before, [...due, ...act(current)]);
}

/** Lets a subscription be changed unless it is paused: what is settled then would not know how long the period is. */
export function assertRunning({ id, subscription_status }: Subscription): void {
  if (subscription_status !== 'paused') return;
  throw invalidOperation(`Subscription ${id} is paused: resume it first.`, { reason: 'paused' });
}

/** The subscription, unless there is none or it was deleted: 404. */
export function existingSubscription(state: SubscriptionState, id: string): Subscription {
  if (!state || state.status === 'deleted') throw notFound('subscription', id);
  return state;
}

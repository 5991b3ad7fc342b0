import {
  type Decision,
  existing,
  type Instant,
  millisecondsOf,
  nearestInstant,
  type PaymentId,
} from '@counterfoil/kernel';
import {
  type Collection,
  type CollectionEvent,
  type CollectionEventData,
  type CollectionState,
  type PlannedPayment,
  scheduledAfter,
} from './collection.ts';

type CollectionDecision = Decision<CollectionState, CollectionEvent>;

/** Begins a round, unless one is under way. What was scheduled is done by it. */
export const beginRound =
  (cause: RoundCause): CollectionDecision =>
  (state) =>
    state?.isOpen ? [] : [{ type: 'RoundDue', data: { round: nextRound(state), cause } }];

/** Begins the round whose instant has come. Nothing is due, no event. */
export const beginDueRound: CollectionDecision = (state, at) =>
  state && state.next_at !== null && state.next_at <= at ? beginRound('retry')(state, at) : [];

/** The days after a round, counted from 1, until the next one; the last of them was the last. */
export type RetrySchedule = readonly number[];

/** Records who pays what in a round. Where nobody can pay anything the round has ended with it. */
export const planRound =
  (plan: CollectionEventData<'RoundPlanned'>, schedule: RetrySchedule): CollectionDecision =>
  (state, at) => {
    const { isOpen, round, waiting } = existing(state, 'collection');
    if (!isOpen || round !== plan.round || waiting !== null) return [];
    return plannedRound(existing(state, 'collection'), plan, schedule, at);
  };

/**
 * Begins a round whose plan is known already, with the next number, and records the plan with it. Nothing where one is under way, or where one
 * has begun since it was planned.
 */
export const beginPlannedRound =
  (
    cause: RoundCause,
    plan: CollectionEventData<'RoundPlanned'>,
    schedule: RetrySchedule,
  ): CollectionDecision =>
  (state, at) => {
    if (plan.round !== nextRound(state)) return [];
    const begun = beginRound(cause)(state, at);
    if (begun.length === 0) return [];
    const scheduled = scheduledAfter(state, cause);
    return [...begun, ...plannedRound({ round: plan.round, scheduled }, plan, schedule, at)];
  };

/** The number of the round that would begin next. */
export const nextRound = (state: CollectionState): number => (state?.round ?? 0) + 1;

type RoundCause = CollectionEventData<'RoundDue'>['cause'];
type OpenRound = Pick<Collection, 'round' | 'scheduled'>;

function plannedRound(
  open: OpenRound,
  plan: CollectionEventData<'RoundPlanned'>,
  schedule: RetrySchedule,
  at: Instant,
): readonly CollectionEvent[] {
  const planned: CollectionEvent = { type: 'RoundPlanned', data: plan };
  return plan.payments.length > 0 ? [planned] : [planned, roundEnded(open, schedule, true, at)];
}

/**
 * Notes the end of a payment, and that of the round with its last one. Then what is still owed is tried again after some
 * days, as the schedule says.
 */
export const endPayment =
  (
    data: Pick<CollectionEventData<'PaymentEnded'>, 'payment_id' | 'is_paid'>,
    isOwed: boolean,
    schedule: RetrySchedule,
  ): CollectionDecision =>
  (state, at) => {
    const { round, waiting } = existing(state, 'collection');
    if (!isWaiting(waiting, data.payment_id)) return [];
    const ended: CollectionEvent = { type: 'PaymentEnded', data: { round, ...data } };
    if ((waiting ?? []).length > 1) return [ended];
    return [ended, roundEnded(existing(state, 'collection'), schedule, isOwed, at)];
  };

const isWaiting = (waiting: readonly PlannedPayment[] | null, id: PaymentId): boolean =>
  (waiting ?? []).some(({ payment_id }) => payment_id === id);

function roundEnded(
  { round, scheduled }: OpenRound,
  schedule: RetrySchedule,
  isOwed: boolean,
  at: Instant,
): CollectionEvent {
  const days = isOwed ? schedule[Math.max(scheduled, 1) - 1] : undefined;
  const next_at = days === undefined ? null : daysAfter(at, days);
  return { type: 'RoundEnded', data: { round, next_at } };
}

const dayMilliseconds = 86_400_000;

const daysAfter = (at: Instant, days: number): Instant =>
  nearestInstant(millisecondsOf(at) + days * dayMilliseconds);

/** Takes the next round off the schedule, where there is one. */
export const stopCollection: CollectionDecision = (state) =>
  state && state.next_at !== null ? [{ type: 'CollectionStopped', data: {} }] : [];

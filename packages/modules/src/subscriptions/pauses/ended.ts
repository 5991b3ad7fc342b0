import {
  type Instant,
  invariant,
  laterOf,
  millisecondsOf,
  type Span,
  shiftedBy,
} from '@counterfoil/kernel';
import type { Addon } from '../addons/association.ts';
import type { SubscriptionEvent } from '../events.ts';
import { chargedLine, type Line } from '../lines/line.ts';
import type { Phase } from '../phases/phase.ts';
import { movedSchedules } from '../schedules/schedule.ts';
import { afterPause, lengthened } from '../settlement/index.ts';
import type { Subscription } from '../subscription.ts';
import { type Cycle, periodOf, wholePeriodOf } from '../time/cycle.ts';
import { nextPeriod } from '../time/steps.ts';
import { pendingPause } from './pause.ts';

type PauseEnded = Extract<SubscriptionEvent, { type: 'PauseEnded' }>;

/** The end of the pause that runs, with everything that it moves (D67, E 10.6 B). */
export function pauseEnded(
  subscription: Subscription,
  at: Instant,
  cause: PauseEnded['data']['cause'],
): PauseEnded {
  const pause = pendingPause(subscription);
  invariant(pause?.status === 'active', `${subscription.id}: a pause ends that does not run`);
  const span = { start: pause.start, end: laterOf(at, pause.start) };
  const cycle = span.start === span.end ? subscription.cycle : cycleAfter(subscription, span);
  const { opened } = subscription;
  const moved = {
    cancel_at: cancelAfter(subscription, span),
    change_at: subscription.plan_change && movedBy(subscription.plan_change.at, span),
  };
  return {
    type: 'PauseEnded',
    data: {
      pause_id: pause.id,
      ...span,
      cause,
      cycle,
      period: opened && periodOf({ ...subscription, cycle }, opened.index),
      lines: subscription.lines.flatMap((line) => lineAfter(line, span, subscription.timezone)),
      addons: subscription.addons.flatMap((addon) => datesAfter(addon, span)),
      phases: subscription.phases.flatMap((phase) => datesAfter(phase, span)),
      ...moved,
      schedules: movedSchedules(subscription, moved),
    },
  };
}

/**
 * The rhythm after a pause. The period that it began in is longer by its length, and later ones are counted from its new end;
 * between two periods the next one begins with its end.
 */
function cycleAfter(subscription: Subscription, pause: Span): Cycle {
  const { opened, cycle } = subscription;
  const { unit, count } = cycle;
  const uncut = { ...subscription, end_date: null };
  if (opened === null) {
    const { start: before, index } = nextPeriod(uncut);
    const start = shiftedBy(before, millisecondsOf(pause.end) - millisecondsOf(pause.start));
    return { anchor: start, unit, count, start, first_index: index };
  }
  const { index } = opened;
  const { start, end } = lengthened(periodOf(uncut, index), pause);
  const whole = lengthened(wholePeriodOf(subscription, index), pause);
  return { anchor: end, unit, count, start, first_index: index, first: { end, whole } };
}

/** The part of a line that a pause moves: nothing of one that goes with the periods and was not charged. */
function lineAfter(line: Line, pause: Span, zone: string): PauseEnded['data']['lines'] {
  if (pause.start === pause.end) return [];
  // What was charged of a line that was sold once is not credited, but it stays charged.
  const before = { ...chargedLine(line, null), charged: line.charged };
  const { start, end, own, charged } = afterPause(before, pause, zone);
  const isUnmoved = start === line.start_date && end === line.end_date && own === null;
  if (isUnmoved && charged.length === 0) return [];
  return [{ id: line.id, start_date: start, end_date: end, own, charged: [...charged] }];
}

/** An add-on and a phase begin and end with their lines. */
function datesAfter<Dated extends Pick<Addon | Phase, 'id' | 'start_date' | 'end_date'>>(
  { id, start_date, end_date }: Dated,
  pause: Span,
): { id: Dated['id']; start_date: Instant; end_date: Instant | null }[] {
  const start = movedBy(start_date, pause);
  const end = end_date && movedBy(end_date, pause);
  return start === start_date && end === end_date ? [] : [{ id, start_date: start, end_date: end }];
}

/** A cancellation at the end of the period moves with it. */
function cancelAfter({ cancellation }: Subscription, pause: Span): Instant | null {
  if (cancellation?.cancellation_type !== 'end_of_period') return null;
  return movedBy(cancellation.cancel_at, pause);
}

const movedBy = (at: Instant, pause: Span): Instant =>
  lengthened({ start: at, end: at }, pause).end;

import {
  type Instant,
  invalidField,
  invalidOperation,
  laterOf,
  shiftedBy,
} from '@counterfoil/kernel';
import { acting, type SubscriptionDecision } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import { quotedInstant } from '../modify/quoted-instant.ts';
import { foldAll, type Subscription } from '../subscription.ts';
import { daysAfter } from '../time/cycle.ts';
import { dueEvents, resuming } from '../time/due.ts';
import { endOf, nextPeriod } from '../time/steps.ts';
import { maximumPauses, type Pause, type PauseData, pendingPause } from './pause.ts';

/** Days that a pause with an end lasts at most. */
export const maximumPauseDays = 3650;

/** A pause as it is asked for. */
export interface PauseOrder
  extends Pick<PauseData, 'id' | 'pause_mode' | 'bills_usage' | 'reason' | 'metadata'> {
  /** Of a scheduled one. */
  readonly start: Instant | null;
  /** Null: as `days` says, or until somebody resumes it. */
  readonly end: Instant | null;
  readonly days: number | null;
  /** The instant of a quote, which is now for it; null: there is none. */
  readonly quoted: Instant | null;
}

/** Pauses a subscription now, at an instant, or at the end of its period (D49, D67, E 10.6). */
export const pauseSubscription =
  (id: string, order: PauseOrder): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      assertPausable(current);
      const start = startOf(current, order, now);
      const end = endAfter(current, start, order);
      if (end !== null) assertEnd(end, laterOf(start, now), start, '/pause_end');
      const { quoted: _, days: _days, ...asked } = order;
      const { opened } = current;
      const data: PauseData = {
        ...asked,
        start,
        end,
        resume_mode: end === null ? 'immediate' : 'auto',
        original_period: opened && { start: opened.start, end: opened.end },
      };
      return [{ type: order.pause_mode === 'immediate' ? 'PauseStarted' : 'PauseScheduled', data }];
    });

function assertPausable(current: Subscription): void {
  const { id, subscription_status: status, pauses } = current;
  const pending = pendingPause(current);
  if (status !== 'active' || pending?.status === 'active') {
    const reason = status === 'paused' ? 'paused' : 'inactive';
    throw invalidOperation(`Subscription ${id} is ${status}: only an active one can be paused.`, {
      reason,
    });
  }
  if (pending !== null) {
    throw invalidOperation(
      `Subscription ${id} is to be paused at ${pending.start}: resume it first, which takes that back.`,
      { reason: 'exists' },
    );
  }
  if (pauses.length >= maximumPauses) {
    throw invalidOperation(`A subscription has at most ${maximumPauses} pauses.`, {
      reason: 'limit_reached',
      limit: maximumPauses,
    });
  }
}

/** The instant at which a pause begins, which is before the end of the subscription and after its beginning. */
function startOf(current: Subscription, order: PauseOrder, now: Instant): Instant {
  const { opened } = current;
  const start = wantedStart(current, order, now);
  if (opened === null && start <= nextPeriod(current).start) {
    throw invalidOperation(`Subscription ${current.id} has not begun: there is nothing to pause.`, {
      reason: 'inactive',
    });
  }
  const last = endOf(current);
  if (last !== null && start >= last) {
    throw invalidOperation(`Subscription ${current.id} ends at ${last}, before the pause begins.`, {
      reason: 'ended',
    });
  }
  return start;
}

function wantedStart(
  current: Subscription,
  { pause_mode, start, quoted }: PauseOrder,
  now: Instant,
): Instant {
  const { opened, start_date } = current;
  switch (pause_mode) {
    case 'immediate':
      return quotedInstant(current, quoted, now);
    case 'period_end':
      return opened?.end ?? start_date;
    case 'scheduled':
      if (start !== null && start > now) return start;
      throw invalidField('/pause_start', 'must lie ahead');
    default:
      return pause_mode satisfies never;
  }
}

const endAfter = (
  { timezone }: Subscription,
  start: Instant,
  { end, days }: PauseOrder,
): Instant | null => (days === null ? end : daysAfter(start, days, timezone));

const dayMilliseconds = 24 * 60 * 60 * 1000;

function assertEnd(end: Instant, after: Instant, start: Instant, pointer: string): void {
  if (end <= after) throw invalidField(pointer, `must be after ${after}`);
  if (end > shiftedBy(start, maximumPauseDays * dayMilliseconds)) {
    throw invalidField(pointer, `must not be more than ${maximumPauseDays} days after the start`);
  }
}

/** The end of a pause as it is asked for. */
export interface ResumeOrder {
  readonly resume_mode: Pause['resume_mode'];
  /** Of a scheduled one. */
  readonly at: Instant | null;
}

/** Ends a pause now, at another instant, or at the one that it has (D49). One that has not begun is given up. */
export const resumeSubscription =
  (id: string, order: ResumeOrder): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      const pause = pendingPause(current);
      if (pause === null) {
        throw invalidOperation(`Subscription ${id} is not paused.`, { reason: 'inactive' });
      }
      return resumedBy(current, pause, order, now);
    });

function resumedBy(
  current: Subscription,
  pause: Pause,
  { resume_mode, at }: ResumeOrder,
  now: Instant,
): readonly SubscriptionEvent[] {
  const { id: pause_id } = pause;
  if (resume_mode === 'immediate') {
    if (pause.status === 'scheduled') return [{ type: 'PauseCancelled', data: { pause_id } }];
    const ended = resuming(current, now, 'request');
    const running = foldAll(current, ended);
    // What the pause held back comes with its end.
    return [...ended, ...dueEvents(running, now)];
  }
  const end = resume_mode === 'auto' ? pause.end : at;
  if (end === null) throw invalidField('/resume_mode', 'the pause has no end: say when it is over');
  assertEnd(end, laterOf(now, pause.start), pause.start, '/resume_at');
  if (end === pause.end && resume_mode === pause.resume_mode) return [];
  return [{ type: 'PauseEndChanged', data: { pause_id, resume_mode, end } }];
}

import { type Instant, invalidField, laterOf, type PhaseId } from '@counterfoil/kernel';
import type { Subscription } from '../subscription.ts';

/** The dates of a line that is added. */
interface LineDates {
  /** Null: now. */
  readonly from: Instant | null;
  /** Null: as long as what it is for. */
  readonly end_date: Instant | null;
}

/**
 * The dates of a line that is for a phase, and lies in it: by default from the beginning of the phase, or from now on, to its end. For
 * none, the dates as they are. Throws a Problem for a phase that the subscription has not, and for dates outside of it.
 */
export function withinPhase(
  { phases }: Subscription,
  phaseId: string | null,
  { from, end_date }: LineDates,
  now: Instant,
): LineDates & { readonly subscription_phase_id: PhaseId | null } {
  if (phaseId === null) return { from, end_date, subscription_phase_id: null };
  const phase = phases.find(({ id }) => id === phaseId);
  if (!phase) throw invalidField('/subscription_phase_id', 'is no phase of the subscription');
  const { start_date, end_date: last } = phase;
  const start = from ?? laterOf(now, start_date);
  if (start < start_date || (last !== null && start >= last)) {
    throw invalidField(
      '/start_date',
      `must lie in the phase, ${start_date} to ${last ?? 'the end of the subscription'}`,
    );
  }
  const end = end_date ?? last;
  if (end !== null && last !== null && end > last) {
    throw invalidField('/end_date', `must not be after the end of the phase, ${last}`);
  }
  return { from: start, end_date: end, subscription_phase_id: phase.id };
}

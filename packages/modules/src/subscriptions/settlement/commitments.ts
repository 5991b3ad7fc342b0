import {
  type Currency,
  type DecimalText,
  type Instant,
  type PeriodUnit,
  type Span,
  type SubscriptionLineId,
  shiftedBy,
} from '@counterfoil/kernel';
import { commitmentTerm } from '../../rating/index.ts';
import { prorated } from './proration.ts';
import type { SettlementCommitment } from './settlement.ts';
import { billableLength, during, type PauseSpan } from './spans.ts';

/** An amount of usage that is paid in any case, of a line or of all together. One for each window stands with its line. */
export interface ChargedCommitment {
  /** For a whole period, or for a whole term; exact. */
  readonly committed: DecimalText;
  readonly overage_factor: DecimalText;
  readonly true_up: boolean;
  /** The length of its terms; null: each period has it anew. */
  readonly duration: PeriodUnit | null;
  /** Since when it holds: terms are counted from here. */
  readonly since: Instant;
  /** Its end, as far as that is known. */
  readonly end: Instant | null;
}

/** The part of the time in which lines are settled that commitments need. */
interface Settled {
  readonly currency: Currency;
  readonly zone: string;
  readonly window: Span;
  readonly whole: Span;
  readonly pauses: readonly PauseSpan[];
}

/** A stretch of time that usage is billed for, and the time that a price for one period pays for. */
interface Stretch {
  readonly span: Span;
  readonly whole: Span;
}

/**
 * The commitment that usage billed for a stretch of time is held against (E 14.1, 14.3 B). A commitment for a period is as much smaller as
 * a fixed price would be where the stretch is a part of it. One for a term holds for all of that, and is trued up with its last period; where
 * it ends within a term, with its part of it.
 *
 * @param of the line; null: all usage of the subscription
 */
export function commitmentFor(
  of: SubscriptionLineId | null,
  commitment: ChargedCommitment,
  { span, whole }: Stretch,
  context: Pick<Settled, 'currency' | 'zone' | 'pauses'>,
): SettlementCommitment {
  const { committed, overage_factor, true_up, duration, since, end } = commitment;
  const shared = { kind: 'commitment' as const, line_item_id: of, overage_factor };
  if (duration === null) {
    return { ...shared, span, committed: partOf(committed, span, whole, context), true_up };
  }
  const term = commitmentTerm(since, duration, context.zone, span);
  const isBrokenOff = end !== null && end < term.end && span.end >= end;
  const held = { start: term.start, end: isBrokenOff ? end : term.end };
  return {
    ...shared,
    span: held,
    committed: partOf(committed, held, term, context),
    true_up: true_up && (isBrokenOff || term.is_last_period),
  };
}

const partOf = (
  committed: DecimalText,
  span: Span,
  whole: Span,
  { pauses, currency }: Pick<Settled, 'currency' | 'pauses'>,
): DecimalText =>
  span.start === whole.start && span.end === whole.end && billableLength(span, pauses) > 0n
    ? committed
    : prorated(committed, span, whole, pauses, currency);

/** The commitment that all usage is held against when a period, or the rest of it, is billed. */
export function commitmentOfPeriod(
  commitment: ChargedCommitment | null,
  context: Settled,
): SettlementCommitment[] {
  if (commitment === null) return [];
  const span = during(context.window, commitment.since, commitment.end);
  if (span !== null) return [commitmentFor(null, commitment, { ...context, span }, context)];
  return brokenOffTerm(null, commitment, context.window.start, context);
}

/**
 * The true-up of a term that ends right when a period begins: when the one before it was billed, nobody knew of that end.
 */
export function brokenOffTerm(
  of: SubscriptionLineId | null,
  commitment: ChargedCommitment,
  at: Instant,
  context: Settled,
): SettlementCommitment[] {
  const { duration, since, true_up } = commitment;
  if (!true_up || duration === null || at <= since || at > context.window.start) return [];
  const before = { start: shiftedBy(at, -1), end: at };
  const { end } = commitmentTerm(since, duration, context.zone, before);
  if (end <= at) return [];
  const stretch = { span: before, whole: before };
  return [commitmentFor(of, { ...commitment, end: at }, stretch, context)];
}

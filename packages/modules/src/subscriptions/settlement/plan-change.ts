import type { Currency, PeriodUnit } from '@counterfoil/kernel';
import { exactCost } from '../../pricing/index.ts';
import { openingLines, type SettlementContext } from './boundaries.ts';
import { type Change, cancellationLines } from './changes.ts';
import type { ChargedLine } from './charged-line.ts';
import type { BillingPeriod } from './own-cycle.ts';
import type { SettlementLine } from './settlement.ts';

/** The lines of one side of a change, and the period that they are in. */
export interface PlanSide {
  readonly lines: readonly ChargedLine[];
  readonly context: SettlementContext;
}

/** Both sides of a change of plan. */
export interface PlanChangeLines {
  /** Owed in arrears up to the change, and credited for what was charged for the time after it. */
  readonly old: readonly SettlementLine[];
  /** Charged in advance from the change on. */
  readonly new: readonly SettlementLine[];
}

/**
 * Settles a change of plan (E 13 B, D65). The old plan ends as a cancellation does, with its usage. The new one is charged
 * from the change on: for the rest of the running period where that goes on (`restOf`), whole where a new cycle begins. Not
 * prorated, nothing is credited, and nothing charged before the next boundary.
 */
export const changePlan = (from: PlanSide, to: PlanSide, change: Change): PlanChangeLines => ({
  old: cancellationLines(from.lines, from.context, { ...change, skips_arrears: false }),
  new: change.proration === 'none' ? [] : openingLines(to.lines, to.context),
});

/** The rest of a period, of which a price for all of it is charged in proportion. */
export const restOf = (context: SettlementContext, at: Change['at']): SettlementContext => ({
  ...context,
  window: { start: at, end: context.window.end },
});

/** The relation of a plan to the one before it. */
export type ChangeType = 'upgrade' | 'downgrade' | 'lateral';

/**
 * Compares what two plans cost: their fixed recurring prices, at their quantities, for a month (E 13 B). A month is the
 * twelfth part of a year, and a year has 365.2425 days.
 */
export function changeType(
  from: readonly ChargedLine[],
  to: readonly ChargedLine[],
  currency: Currency,
): ChangeType {
  const [before, after] = [yearly(from, currency), yearly(to, currency)];
  const difference = after.upper * before.lower - before.upper * after.lower;
  if (difference === 0n) return 'lateral';
  return difference > 0n ? 'upgrade' : 'downgrade';
}

interface Fraction {
  readonly upper: bigint;
  readonly lower: bigint;
}

/** Units in ten thousand years, in which a year has a whole number of days. */
const unitsInTenThousandYears: Readonly<Record<PeriodUnit, bigint>> = {
  DAILY: 3_652_425n,
  WEEKLY: 521_775n,
  MONTHLY: 120_000n,
  QUARTERLY: 40_000n,
  HALF_YEARLY: 20_000n,
  ANNUAL: 10_000n,
};

/** The exact cost of fixed recurring lines in ten thousand years. */
const yearly = (lines: readonly ChargedLine[], currency: Currency): Fraction =>
  lines.reduce<Fraction>(
    (sum, line) =>
      line.charge === 'fixed' && line.period !== 'ONETIME'
        ? plus(sum, yearlyCost(line, line.period, currency))
        : sum,
    { upper: 0n, lower: 1n },
  );

function yearlyCost(
  { terms, quantity }: ChargedLine,
  { unit, count }: BillingPeriod,
  currency: Currency,
): Fraction {
  const [whole = '', digits = ''] = exactCost(terms, quantity, currency).unrounded_amount.split(
    '.',
  );
  return {
    upper: BigInt(whole + digits) * unitsInTenThousandYears[unit],
    lower: 10n ** BigInt(digits.length) * BigInt(count),
  };
}

const plus = (one: Fraction, other: Fraction): Fraction => ({
  upper: one.upper * other.lower + other.upper * one.lower,
  lower: one.lower * other.lower,
});

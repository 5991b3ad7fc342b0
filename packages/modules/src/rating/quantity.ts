import {
  type DecimalText,
  decimal,
  invariant,
  type Span,
  smaller,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import type { Allowance, MeteredBy, Usage, UsageWindow } from './request.ts';
import { notBelowZero, sumOf } from './sum.ts';

/** One period of an allowance: what of it was above the limit by the end, and by the beginning, of the rated period. */
export interface AllowanceWindow extends UsageWindow {
  readonly above_before: DecimalText;
  readonly above_through: DecimalText;
  /** `above_through − above_before`. */
  readonly billable: DecimalText;
}

/** An allowance as it was taken from usage. */
export interface TakenAllowance extends Allowance {
  /** Empty for one without a limit. */
  readonly windows: readonly AllowanceWindow[];
}

/** From what was measured to what is charged for: `measured − taken − below_zero = billable`. */
export interface QuantityStep {
  readonly metered_by: MeteredBy;
  readonly measured: DecimalText;
  readonly allowance: TakenAllowance | null;
  /** Part of it that the allowance covers. */
  readonly taken: DecimalText;
  /** The part that corrections take off beyond zero: nothing is charged for it. Zero or negative. */
  readonly below_zero: DecimalText;
  readonly billable: DecimalText;
}

/**
 * Throws a BrokenInvariant for usage that is none of a period, or there twice: it would be charged for wrongly, or twice.
 * Windows come in the order of their start.
 */
export function assertUsageOf(period: Span, usage: Usage): void {
  if (usage.kind === 'buckets') {
    const places = usage.buckets.map(({ start, group }) => `${start} ${group}`);
    invariant(new Set(places).size === places.length, 'a bucket and group comes once');
    const isIn = usage.buckets.every(({ start }) => start < period.end);
    invariant(isIn, 'a bucket begins before the rated period ends');
    return;
  }
  for (const [index, { start, end, before }] of usage.windows.entries()) {
    const last = usage.windows[index - 1];
    invariant(last === undefined || last.start < start, 'windows of usage follow one another');
    invariant(
      start < period.end && (end === null || end > period.start),
      'a window meets the period',
    );
    invariant(
      before === '0' || start < period.start,
      'what was used before lies before the period',
    );
  }
}

/**
 * Takes the allowance from usage (E 8.4). In each period of the allowance what is above the limit is charged, less what
 * of it earlier billing periods have charged: so a limit holds once for its whole period, however that lies to the
 * billing period. Tiers begin after the allowance.
 */
export function billableQuantity(usage: Usage, allowance: Allowance | null): QuantityStep {
  if (allowance === null) return withoutAllowance(usage);
  const { limit } = allowance;
  if (limit === null) return unlimited(usage, allowance);
  invariant(usage.kind === 'windows', 'an allowance with a limit is taken from windows');
  const windows = usage.windows.map((window) => allowanceWindow(window, limit));
  const measured = measuredOf(usage);
  const above = sumOf(windows.map(({ billable }) => billable));
  const billable = notBelowZero(above);
  return {
    metered_by: usage.metered_by,
    measured: textOf(measured),
    allowance: { ...allowance, windows },
    taken: textOf(measured.minus(above)),
    below_zero: textOf(above.minus(billable)),
    billable: textOf(billable),
  };
}

function allowanceWindow(window: UsageWindow, limit: DecimalText): AllowanceWindow {
  const above = (used: DecimalText) => notBelowZero(decimal(used).minus(decimal(limit)));
  const [before, through] = [above(window.before), above(window.through)];
  return {
    ...window,
    above_before: textOf(before),
    above_through: textOf(through),
    billable: textOf(through.minus(before)),
  };
}

function withoutAllowance(usage: Usage): QuantityStep {
  const measured = measuredOf(usage);
  // Each bucket is charged for on its own, and none below zero.
  const billable =
    usage.kind === 'windows'
      ? notBelowZero(measured)
      : sumOf(usage.buckets.map(({ quantity }) => chargeable(quantity)));
  return {
    metered_by: usage.metered_by,
    measured: textOf(measured),
    allowance: null,
    taken: zeroText,
    below_zero: textOf(measured.minus(billable)),
    billable: textOf(billable),
  };
}

function unlimited(usage: Usage, allowance: Allowance): QuantityStep {
  const measured = textOf(measuredOf(usage));
  return {
    metered_by: usage.metered_by,
    measured,
    allowance: { ...allowance, windows: [] },
    taken: measured,
    below_zero: zeroText,
    billable: zeroText,
  };
}

const measuredOf = (usage: Usage) =>
  usage.kind === 'windows'
    ? sumOf(usage.windows.map(({ through }) => through)).minus(
        sumOf(usage.windows.map(({ before }) => before)),
      )
    : sumOf(usage.buckets.map(({ quantity }) => quantity));

/** The part of a bucket that is charged for: a bucket that corrections take below zero costs nothing. */
export const chargeable = (quantity: DecimalText): DecimalText =>
  smaller(decimal(quantity), zero).eq(zero) ? quantity : zeroText;

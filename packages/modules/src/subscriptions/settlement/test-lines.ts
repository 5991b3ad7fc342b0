import {
  type Cadence,
  type Currency,
  type DecimalText,
  type Instant,
  instantOf,
  type PeriodUnit,
  periodAt,
  periodBoundary,
  type Span,
  type SubscriptionLineId,
  wholePeriod,
  zeroText,
} from '@counterfoil/kernel';
import { openingLines, type SettlementContext } from './boundaries.ts';
import type { ChargedLine } from './charged-line.ts';
import { ownCycle } from './own-cycle.ts';
import type { SettlementLine } from './settlement.ts';

export const text = (value: string): DecimalText => value as DecimalText;

/** An instant as a test writes it: a day, perhaps with a clock time. */
export const at = (value: string): Instant => instantOf(Date.parse(value));

export const span = (start: string, end: string): Span => ({ start: at(start), end: at(end) });

export const usd = 'usd' as Currency;

export const lineId = (name: string): SubscriptionLineId => name as SubscriptionLineId;

const units: Readonly<Record<string, PeriodUnit>> = {
  D: 'DAILY',
  W: 'WEEKLY',
  M: 'MONTHLY',
  Q: 'QUARTERLY',
  H: 'HALF_YEARLY',
  A: 'ANNUAL',
};

/** A subscription as a test needs it: its rhythm and where it begins. */
export interface Rhythm {
  readonly cadence: Cadence;
  readonly start: Instant;
}

/** A rhythm as `2 M`, from a start on, with an anchor where that is another instant. */
export function rhythm(period: string, start: string, anchor = start, zone = 'UTC'): Rhythm {
  const [count, unit = ''] = period.split(' ');
  return {
    start: at(start),
    cadence: {
      anchor: at(anchor),
      unit: units[unit] ?? 'MONTHLY',
      count: Number(count),
      zone,
    },
  };
}

/** The context of period `index`, prorated unless it is said that it is not. */
export function periodOf(
  { cadence, start }: Rhythm,
  index: number,
  prorates = true,
): SettlementContext {
  const window = {
    start: periodBoundary(cadence, start, index),
    end: periodBoundary(cadence, start, index + 1),
  };
  const whole = prorates ? wholePeriod(cadence, start, index) : window;
  const { zone } = cadence;
  return { currency: usd, zone, window, whole, pauses: [], commitment: null };
}

/** The context of the period that an instant lies in. */
export const periodWith = (subscription: Rhythm, instant: string, prorates = true) =>
  periodOf(
    subscription,
    periodAt(subscription.cadence, subscription.start, at(instant)).index,
    prorates,
  );

/**
 * A line as `50 Q arrear`: an amount, the letter of its period or 1 for one that is charged once, and how it is invoiced;
 * `usage` for one of usage.
 */
export function line(
  written: string,
  subscription: Rhythm,
  more: Partial<ChargedLine> = {},
): ChargedLine {
  const [amount = '', unit = '', kind = 'advance'] = written.split(' ');
  const period = unit === '1' ? 'ONETIME' : { unit: units[unit] ?? 'MONTHLY', count: 1 };
  const start = more.start ?? subscription.start;
  return {
    line_item_id: lineId(written),
    charge: kind === 'usage' ? 'usage' : 'fixed',
    invoiced: kind === 'advance' ? 'ADVANCE' : 'ARREAR',
    period,
    own: ownCycle(period, subscription.cadence, start, subscription.cadence.zone),
    terms: {
      model: 'flat_fee',
      unit_amount: text(amount),
      minimum_quantity: text('0'),
      price_unit: null,
    },
    quantity: text('1'),
    start,
    end: null,
    charged: [],
    commitment: null,
    ...more,
  };
}

/** A line with what is charged for it when a period begins. */
export const charged = (of: ChargedLine, context: SettlementContext): ChargedLine =>
  openingLines([of], context).reduce(withCharge, of);

/** A line after a line of a settlement. */
export function withCharge(of: ChargedLine, settled: SettlementLine): ChargedLine {
  if (settled.kind !== 'charge' || settled.line_item_id !== of.line_item_id) return of;
  const { line_item_id, span: whole, amount } = settled;
  const charge = { line_item_id, span: whole, amount, credited: zeroText };
  return { ...of, charged: [...of.charged, charge] };
}

/** Lines of a settlement as a test reads them: `+ 50.00 50 Q [2026-01-01, 2026-04-01)`. */
export const shown = (lines: readonly SettlementLine[]): string[] =>
  lines.map((each) => {
    const stretch = `${day(each.span.start)}..${day(each.span.end)}`;
    if (each.kind === 'commitment') {
      const { line_item_id, committed, overage_factor, true_up } = each;
      const against = `${committed} ×${overage_factor}${true_up ? ' trued up' : ''}`;
      return `commitment ${line_item_id ?? 'all'}: ${against} ${stretch}`;
    }
    if (each.kind === 'usage') return `usage ${each.line_item_id}: ${stretch}`;
    const sign = each.kind === 'charge' ? '+' : '-';
    return `${sign}${each.amount} ${each.line_item_id}: ${stretch}`;
  });

const day = (instant: Instant): string =>
  instant.endsWith('T00:00:00.000Z') ? instant.slice(0, 10) : `${instant.slice(0, 16)}Z`;

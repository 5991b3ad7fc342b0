import type { Currency, DecimalText, Instant, Span, WindowSize } from '@counterfoil/kernel';
import type { PriceTerms } from '../pricing/index.ts';
import type {
  Allowance,
  CommitmentTerms,
  FixedLine,
  LineCommitment,
  MeteredBy,
  Usage,
  UsageLine,
  UsageWindow,
} from './request.ts';

/** A decimal as a test writes it. */
export const text = (value: string): DecimalText => value as DecimalText;

/** An instant as a test writes it: a day, perhaps with a clock time. */
export const at = (value: string): Instant =>
  new Date(value.length === 10 ? `${value}T00:00Z` : value).toISOString() as Instant;

export const span = (start: string, end: string): Span => ({ start: at(start), end: at(end) });

export const usd = 'usd' as Currency;
export const january = span('2026-01-01', '2026-02-01');

export const metered: MeteredBy = {
  meter_id: 'meter_1',
  aggregation: 'SUM',
  events: 3,
  position: '4711',
};

const common = { minimum_quantity: text('0'), price_unit: null } as const;

export const flat = (amount: string): PriceTerms => ({
  ...common,
  model: 'flat_fee',
  unit_amount: text(amount),
});

export const packed = (amount: string, size: string, round: 'up' | 'down' = 'up'): PriceTerms => ({
  ...common,
  model: 'package',
  package_amount: text(amount),
  divide_by: text(size),
  round,
});

/** Tiers as `bound@unit+flat`, the bound `∞` for an open one. */
export const tiered = (model: 'volume' | 'graduated', tiers: string): PriceTerms => ({
  ...common,
  model,
  tiers: tiers.split(' ').map((tier) => {
    const [bound = '', figures = ''] = tier.split('@');
    const [unit = '', once = '0'] = figures.split('+');
    return {
      up_to: bound === '∞' ? null : text(bound),
      unit_amount: text(unit),
      flat_amount: text(once),
    };
  }),
});

export const inUnit = (terms: PriceTerms, rate: string): PriceTerms => ({
  ...terms,
  price_unit: { code: 'credit', conversion_rate: text(rate) },
});

/**
 * Windows as `before..through`, which begin on the days up to the rated period; one number is used within the period
 * alone, in a window that begins on its first day, its second …
 */
export const windows = (...values: string[]): Usage => ({
  kind: 'windows',
  metered_by: metered,
  windows: values.map((value, index): UsageWindow => {
    const [first = '', second] = value.split('..');
    const [before, through] = second === undefined ? ['0', first] : [first, second];
    const day = second === undefined ? `2026-01-0${index + 1}` : `2025-12-2${index + 1}`;
    const next = `2026-01-0${index + 2}`;
    return { start: at(day), end: at(next), before: text(before), through: text(through) };
  }),
});

/** Buckets as `start=quantity` or `start=quantity/group`. */
export const buckets = (size: WindowSize, zone: string, ...values: string[]): Usage => ({
  kind: 'buckets',
  metered_by: { ...metered, aggregation: 'MAX' },
  rhythm: { size, zone },
  buckets: values.map((value) => {
    const [start = '', quantity = ''] = value.split('=');
    const [figure = '', group = ''] = quantity.split('/');
    return { start: at(start), group, quantity: text(figure) };
  }),
});

export const limited = (limit: string | null, resets: Allowance['resets'] = null): Allowance => ({
  limit: limit === null ? null : text(limit),
  resets,
});

/** A commitment as `10` or `10 units`, its factor, and whether it is trued up. */
export const committing = (
  committed: string,
  factor: string,
  true_up: boolean = false,
): CommitmentTerms => {
  const [figure = '', isQuantity] = committed.split(' ');
  return {
    committed: isQuantity
      ? { kind: 'quantity', quantity: text(figure) }
      : { kind: 'amount', amount: text(figure) },
    overage_factor: text(factor),
    true_up,
  };
};

/** A commitment of one period, or of a term of which earlier periods used something. */
export const overTerm = (
  terms: CommitmentTerms,
  prior = '0',
  closes_term = true,
): LineCommitment => ({ kind: 'term', terms, prior: text(prior), closes_term });

export const usageLine = (
  terms: PriceTerms,
  usage: Usage,
  more: Partial<UsageLine> = {},
): UsageLine => ({
  kind: 'usage',
  currency: usd,
  terms,
  period: january,
  usage,
  allowance: null,
  commitment: null,
  ...more,
});

export const fixedLine = (
  terms: PriceTerms,
  quantity: string,
  currency: Currency = usd,
): FixedLine => ({ kind: 'fixed', currency, terms, period: january, quantity: text(quantity) });

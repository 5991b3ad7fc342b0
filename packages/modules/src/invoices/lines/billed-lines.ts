import {
  type Decimal,
  type DecimalText,
  decimal,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import type { InvoiceLine } from '../events.ts';
import { type UnnamedLine, unnamed } from './line-id.ts';

/*
 * Usage that is billed in parts, by amount or because some of it came late: each part is charge(all of it) − charge(what was billed), so that
 * tiers, packages and allowances come out as on one line (D61, ADR 47).
 */

/** Two lines with the same key are for the same line of a subscription and the same time. */
export const useKeyOf = ({
  subscription_id,
  subscription_line_item_id,
  period_start,
}: Pick<InvoiceLine, 'subscription_id' | 'subscription_line_item_id' | 'period_start'>): string =>
  [subscription_id, subscription_line_item_id, period_start].join('\n');

/** The lines that have billed the same line of the subscription for the same time. */
export const billedFor = (
  line: Parameters<typeof useKeyOf>[0],
  billed: readonly InvoiceLine[],
): readonly InvoiceLine[] => billed.filter((each) => useKeyOf(each) === useKeyOf(line));

/** Tells whether a line bills usage of the period of its invoice. */
export const isOfUsage = ({ kind }: Pick<InvoiceLine, 'kind'>): boolean =>
  kind === 'usage' || kind === 'overage' || kind === 'true_up';

/** A line of nothing for usage that was billed and counts no more. */
export const nothingOf = (line: InvoiceLine): UnnamedLine => ({
  ...unnamed(line),
  quantity: zeroText,
  free_quantity: line.free_quantity === null ? null : zeroText,
  amount: zeroText,
});

type Figures = Pick<UnnamedLine, 'quantity' | 'free_quantity' | 'amount'>;

/** The figures of lines that are for the same usage, less those that have billed it. */
export const restOf = (now: readonly Figures[], billed: readonly Figures[]): Figures => {
  const less = (of: (line: Figures) => DecimalText): DecimalText =>
    textOf(sumOf(now, of).minus(sumOf(billed, of)));
  const isFree = now.some(({ free_quantity }) => free_quantity !== null);
  return {
    quantity: less(({ quantity }) => quantity),
    free_quantity: isFree ? less(({ free_quantity }) => free_quantity ?? zeroText) : null,
    amount: less(({ amount }) => amount),
  };
};

const sumOf = (lines: readonly Figures[], of: (line: Figures) => DecimalText): Decimal =>
  lines.reduce((sum, line) => sum.plus(decimal(of(line))), zero);

/** The amounts of lines together. */
export const amountOf = (lines: readonly Figures[]): DecimalText =>
  textOf(sumOf(lines, ({ amount }) => amount));

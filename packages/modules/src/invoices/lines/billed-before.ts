import type { AskingContext } from '@counterfoil/engine/define';
import { type DecimalText, decimal, Problem, textOf, zero, zeroText } from '@counterfoil/kernel';
import type { Settled, Settlement } from '../../subscriptions/index.ts';
import type { InvoiceLine } from '../events.ts';
import { invoiceOf } from './invoice-of.ts';
import { type UnnamedLine, unnamed } from './line-id.ts';

/** Tells whether a settlement bills usage of a period that still runs. */
export const isByAmount = ({ reason }: Pick<Settlement, 'reason'>): boolean =>
  reason === 'threshold_reached';

/** Of settlements those that have billed usage of the same period by amount. */
export const byAmountOf = (
  all: readonly Settled[],
  { period_index }: Pick<Settlement, 'period_index'>,
): readonly Settled[] =>
  all.filter(
    ({ settlement }) => isByAmount(settlement) && settlement.period_index === period_index,
  );

/**
 * The lines that invoices by amount have billed: those of a void one too, whose usage is billed by nobody unless it is billed again. Throws 503 while
 * one is not final: what comes after it bills the rest.
 */
export async function billedByAmount(
  context: Pick<AskingContext, 'load'>,
  settled: readonly Settled[],
): Promise<readonly InvoiceLine[]> {
  const lines: InvoiceLine[] = [];
  for (const each of settled) {
    const own = await invoiceOf(context, each);
    if (own === null || own.invoice_status === 'DRAFT') {
      const { settlement_id } = each.settlement;
      const message = `The invoice of ${settlement_id}, which comes before this one, is not final yet.`;
      throw new Problem('service_unavailable', message, { retryAfterSeconds: 1 });
    }
    lines.push(...own.lines.filter(({ kind }) => kind === 'usage'));
  }
  return lines;
}

/**
 * The lines of a settlement, usage less what was billed of it by amount: charge(all) − charge(billed), so that tiers, packages and allowances
 * come out as on one invoice (ADR 47).
 *
 * @param bills_all true where it bills all usage of the period: what was billed and counts no more is given back
 */
export function lessBilled(
  now: readonly UnnamedLine[],
  billed: readonly InvoiceLine[],
  bills_all: boolean,
): readonly UnnamedLine[] {
  if (billed.length === 0) return now;
  const ofLines = Map.groupBy(billed, keyOf);
  const left = now.map((line) => {
    const before = line.kind === 'usage' ? ofLines.get(keyOf(line)) : undefined;
    if (!before) return line;
    ofLines.delete(keyOf(line));
    return restOf(line, before);
  });
  if (!bills_all) return left;
  return [...left, ...[...ofLines.values()].flatMap(given)];
}

/** Usage that counts no more, as a line of nothing less what was billed. */
function given(before: readonly InvoiceLine[]): readonly UnnamedLine[] {
  const [first] = before;
  if (!first) return [];
  const nothing = { quantity: zeroText, free_quantity: zeroText, amount: zeroText };
  return [restOf({ ...unnamed(first), ...nothing }, before)];
}

const restOf = (line: UnnamedLine, before: readonly InvoiceLine[]): UnnamedLine => ({
  ...line,
  quantity: less(line.quantity, before, ({ quantity }) => quantity),
  free_quantity:
    line.free_quantity === null
      ? null
      : less(line.free_quantity, before, ({ free_quantity }) => free_quantity ?? zeroText),
  amount: less(line.amount, before, ({ amount }) => amount),
  metadata: {
    ...line.metadata,
    billed_before: textOf(before.reduce((sum, { amount }) => sum.plus(decimal(amount)), zero)),
  },
});

const less = (
  all: DecimalText,
  before: readonly InvoiceLine[],
  of: (line: InvoiceLine) => DecimalText,
): DecimalText =>
  textOf(before.reduce((rest, line) => rest.minus(decimal(of(line))), decimal(all)));

/** The line of the subscription and the time that a line is for. */
const keyOf = ({
  subscription_line_item_id,
  period_start,
}: Pick<InvoiceLine, 'subscription_line_item_id' | 'period_start'>): string =>
  [subscription_line_item_id, period_start].join('\n');

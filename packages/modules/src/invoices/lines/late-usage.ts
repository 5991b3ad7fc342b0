import type { AskingContext } from '@counterfoil/engine/define';
import { type Decimal, decimal, textOf, zero, zeroText } from '@counterfoil/kernel';
import type { RatedSettlement, Settled } from '../../subscriptions/index.ts';
import type { InvoiceLine } from '../events.ts';
import type { Invoice, InvoiceState } from '../invoice.ts';
import { billedByAmount, byAmountOf } from './billed-before.ts';
import { invoiceOf } from './invoice-of.ts';
import { type UnnamedLine, unnamed } from './line-id.ts';
import { linesOfSettlement } from './settlement-lines.ts';

/** Settlements of usage that are looked at again with each one that follows on them. */
export const lookedBack = 3;

/** A line for usage that came late, with the settlement that would have billed it. */
export interface LateLine {
  readonly line: UnnamedLine;
  readonly settled: Settled;
}

/** The settlements of usage before and after one, without those by amount. */
export interface UsageAround {
  readonly earlier: readonly Settled[];
  readonly after: readonly Settled[];
  /** Those by amount, of all periods. */
  readonly by_amount: readonly Settled[];
}

type Rate = (settled: Settled) => Promise<RatedSettlement>;

/**
 * Lines for usage of periods whose invoices are final (D61): for each line of the subscription what all of its usage comes to
 * now, less what was billed of it by whatever invoice, so that tiers, packages and allowances come out as if it had been on
 * time. Negative where corrections have lowered it.
 *
 * @param around settlements of usage in the order in which they were made, with none left out: those before the one whose invoice it
 * is, and those after it, which there are where that is billed again
 * @param rate tells what the usage of a settlement comes to now
 */
export async function lateLines(
  context: Pick<AskingContext, 'load'>,
  subscription_id: string,
  { earlier, after, by_amount }: UsageAround,
  rate: Rate,
): Promise<readonly LateLine[]> {
  if (earlier.length === 0) return [];
  const all = [...earlier, ...after];
  const bills = await Promise.all(all.map((settled) => invoiceOf(context, settled)));
  const late: LateLine[] = [];
  for (const [index, settled] of earlier.entries()) {
    const [own, ...later] = bills.slice(index);
    // What is not final yet counts its usage itself; what is void, and not billed again, is billed by nobody. Of several that follow one
    // has to be final before the next one looks, or both would bill the same.
    if (!own || !isOver(own) || own.invoice_status === 'VOIDED' || !later.every(isOver)) continue;
    const { settlement, lines } = settled;
    const rated = await rate(settled);
    const now = linesOfSettlement({ settlement, lines, subscription_id, rated }).filter(isOfUsage);
    const before = await billedByAmount(context, byAmountOf(by_amount, settlement));
    const billed = [...before, ...billedIn(own, later)];
    const gone = vanished(settlement, subscription_id, now, billed);
    late.push(...differences([...now, ...gone], billed).map((line) => ({ line, settled })));
  }
  return late;
}

const isOver = (state: InvoiceState): boolean => state !== null && state.invoice_status !== 'DRAFT';

/** The lines that have billed usage so far: on its own invoice, and of what came late for it on later ones. */
const billedIn = (own: Invoice, later: readonly InvoiceState[]): readonly InvoiceLine[] => [
  ...own.lines.filter(isOfUsage),
  ...later.flatMap((each) =>
    each?.invoice_status === 'FINALIZED'
      ? each.lines.filter(({ kind }) => kind === 'late_usage')
      : [],
  ),
];

/**
 * The rest of a commitment that was billed and is used by now, as a line of nothing, so that it is given back. Every other line
 * stays as long as its settlement.
 */
function vanished(
  { lines }: Settled['settlement'],
  subscription_id: string,
  now: readonly UnnamedLine[],
  billed: readonly InvoiceLine[],
): readonly UnnamedLine[] {
  const held = lines.find((line) => line.kind === 'commitment' && line.line_item_id === null);
  if (!held) return [];
  const period_start = held.span.start;
  const key = keyOf({ subscription_id, subscription_line_item_id: null, period_start });
  const found = billed.find((line) => keyOf(line) === key);
  if (!found || now.some((line) => keyOf(line) === key)) return [];
  return [{ ...unnamed(found), quantity: zeroText, amount: zeroText }];
}

/** The lines of usage as it is now, each less what was billed for the same line and time. */
function differences(
  now: readonly UnnamedLine[],
  billed: readonly InvoiceLine[],
): readonly UnnamedLine[] {
  const ofLines = Map.groupBy(now, keyOf);
  return [...ofLines].flatMap(([key, same]) => {
    const [first] = same;
    if (!first) return [];
    const before = billed.filter((line) => keyOf(line) === key);
    const amount = sumOf(same, 'amount').minus(sumOf(before, 'amount'));
    if (amount.eq(zero)) return [];
    return {
      ...first,
      kind: 'late_usage' as const,
      quantity: textOf(sumOf(same, 'quantity').minus(sumOf(before, 'quantity'))),
      amount: textOf(amount),
      commitment: null,
      metadata: { description: `${first.display_name} (Late Usage)` },
    };
  });
}

type Figures = Pick<InvoiceLine, 'amount' | 'quantity'>;

const sumOf = (lines: readonly Figures[], of: keyof Figures): Decimal =>
  lines.reduce((sum, line) => sum.plus(decimal(line[of])), zero);

const isOfUsage = ({ kind }: Pick<InvoiceLine, 'kind'>): boolean =>
  kind === 'usage' || kind === 'overage' || kind === 'true_up';

/** The line of the subscription and the time that a line is for. */
const keyOf = ({
  subscription_id,
  subscription_line_item_id,
  period_start,
}: Pick<InvoiceLine, 'subscription_id' | 'subscription_line_item_id' | 'period_start'>): string =>
  [subscription_id, subscription_line_item_id, period_start].join('\n');

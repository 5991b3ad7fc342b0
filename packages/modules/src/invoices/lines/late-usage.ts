import type { AskingContext } from '@counterfoil/engine/define';
import { type Decimal, decimal, textOf, zero } from '@counterfoil/kernel';
import type { RatedSettlement, Settled } from '../../subscriptions/index.ts';
import { invoicedUnder, invoiceIdOf } from '../drafting/cause.ts';
import type { InvoiceLine } from '../events.ts';
import { type Invoice, type InvoiceState, invoice } from '../invoice.ts';
import type { UnnamedLine } from './line-id.ts';
import { linesOfSettlement } from './settlement-lines.ts';

/** Settlements of usage that are looked at again with each one that follows on them. */
export const lookedBack = 3;

/** A line for usage that came late, with the settlement that would have billed it. */
export interface LateLine {
  readonly line: UnnamedLine;
  readonly settled: Settled;
}

type Rate = (settled: Settled) => Promise<RatedSettlement>;

/**
 * Lines for usage of periods whose invoices are final (D61): for each line of the subscription what all of its usage comes to
 * now, less what was billed of it by whatever invoice, so that tiers, packages and allowances come out as if it had been on
 * time. Negative where corrections have lowered it.
 *
 * @param earlier settlements of usage, in the order in which they were made, with none left out between them and what follows
 * @param rate tells what the usage of a settlement comes to now
 */
export async function lateLines(
  context: Pick<AskingContext, 'load'>,
  subscription_id: string,
  earlier: readonly Settled[],
  rate: Rate,
): Promise<readonly LateLine[]> {
  const bills = await Promise.all(earlier.map((settled) => invoiceOf(context, settled)));
  const late: LateLine[] = [];
  for (const [index, settled] of earlier.entries()) {
    const [own, ...later] = bills.slice(index);
    // What is not final yet counts its usage itself; what is void is billed anew by whoever voids it. Of several that follow one
    // has to be final before the next one looks, or both would bill the same.
    if (!own || !isOver(own) || own.invoice_status === 'VOIDED' || !later.every(isOver)) continue;
    const { settlement, lines } = settled;
    const rated = await rate(settled);
    const now = linesOfSettlement({ settlement, lines, subscription_id, rated }).filter(isOfUsage);
    late.push(...differences(now, own, later).map((line) => ({ line, settled })));
  }
  return late;
}

const isOver = (state: InvoiceState): boolean => state !== null && state.invoice_status !== 'DRAFT';

const invoiceOf = ({ load }: Pick<AskingContext, 'load'>, { state, settlement }: Settled) =>
  load(invoice, invoiceIdOf(invoicedUnder(state, settlement), settlement));

/** The lines of usage as it is now, each less what was billed for the same line and time. */
function differences(
  now: readonly UnnamedLine[],
  own: Invoice,
  later: readonly InvoiceState[],
): readonly UnnamedLine[] {
  const ofLines = Map.groupBy(now, keyOf);
  return [...ofLines].flatMap(([key, same]) => {
    const [first] = same;
    if (!first) return [];
    const billed = [
      ...own.lines.filter((line) => isOfUsage(line) && keyOf(line) === key),
      ...later.flatMap((each) =>
        each?.invoice_status === 'FINALIZED'
          ? each.lines.filter((line) => line.kind === 'late_usage' && keyOf(line) === key)
          : [],
      ),
    ];
    const amount = sumOf(same, 'amount').minus(sumOf(billed, 'amount'));
    if (amount.eq(zero)) return [];
    return {
      ...first,
      kind: 'late_usage' as const,
      quantity: textOf(sumOf(same, 'quantity').minus(sumOf(billed, 'quantity'))),
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

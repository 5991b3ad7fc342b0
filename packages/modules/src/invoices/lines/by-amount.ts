import type { AskingContext } from '@counterfoil/engine/define';
import { Problem } from '@counterfoil/kernel';
import type { Settled, Settlement } from '../../subscriptions/index.ts';
import type { InvoiceLine } from '../events.ts';
import { amountOf, nothingOf, restOf, useKeyOf } from './billed-lines.ts';
import { invoiceOf } from './invoice-of.ts';
import type { UnnamedLine } from './line-id.ts';

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
 * The lines of a settlement, usage less what was billed of it by amount.
 *
 * @param bills_all true where it bills all usage of the period: what was billed and counts no more is given back
 */
export function lessBilled(
  now: readonly UnnamedLine[],
  billed: readonly InvoiceLine[],
  bills_all: boolean,
): readonly UnnamedLine[] {
  if (billed.length === 0) return now;
  const ofLines = Map.groupBy(billed, useKeyOf);
  const left = now.map((line) => {
    const before = line.kind === 'usage' ? ofLines.get(useKeyOf(line)) : undefined;
    if (!before) return line;
    ofLines.delete(useKeyOf(line));
    return lessBefore(line, before);
  });
  if (!bills_all) return left;
  const gone = [...ofLines.values()].flatMap((before) =>
    before.slice(0, 1).map((first) => lessBefore(nothingOf(first), before)),
  );
  return [...left, ...gone];
}

const lessBefore = (line: UnnamedLine, before: readonly InvoiceLine[]): UnnamedLine => ({
  ...line,
  ...restOf([line], before),
  metadata: { ...line.metadata, billed_before: amountOf(before) },
});

import type { AskingContext } from '@counterfoil/engine/define';
import { askedAhead, Problem, zeroText } from '@counterfoil/kernel';
import type { RatedSettlement, Settled } from '../../subscriptions/index.ts';
import type { InvoiceLine } from '../events.ts';
import type { Invoice, InvoiceState } from '../invoice.ts';
import { billedFor, isOfUsage, nothingOf, restOf, useKeyOf } from './billed-lines.ts';
import { billedByAmount, byAmountOf } from './by-amount.ts';
import { invoiceOf } from './invoice-of.ts';
import type { UnnamedLine } from './line-id.ts';
import type { LookedAt } from './looked-back.ts';
import { linesOfSettlement } from './settlement-lines.ts';

/** A line for usage that came late, with the settlement that would have billed it. */
export interface LateLine {
  readonly line: UnnamedLine;
  readonly settled: Settled;
  /** All of its usage as it is now. */
  readonly rated: RatedSettlement;
  /** The lines that have billed it so far. */
  readonly billed: readonly InvoiceLine[];
}

/** Lines of late usage on one invoice, beyond which it looks at no other settlement: those are left to the invoices that follow. */
export const lateLinesMaximum = 2_000;

/**
 * Settlements whose usage is asked for at once. Somebody waits for a preview; an invoice is in no hurry, and leaves the database to those who wait.
 */
export const lateUsageAtOnce = { preview: 4, invoice: 1 } as const;

/** The settlements at which an invoice looks again. */
export interface LookedBack {
  readonly looked: readonly LookedAt[];
  /** Those by amount, of all periods. */
  readonly by_amount: readonly Settled[];
}

type Rate = (settled: Settled) => Promise<RatedSettlement>;

/**
 * Lines for usage of periods whose invoices are final (D61): for each line of the subscription what all of its usage comes to
 * now, less what was billed of it by whatever invoice. Negative where corrections have lowered it.
 *
 * @param rate tells what the usage of a settlement comes to now
 * @param room lines beyond which no other settlement is looked at
 * @param atOnce settlements that are looked at together; the lines are the same
 */
export async function lateLines(
  context: Pick<AskingContext, 'load'>,
  subscription_id: string,
  { looked, by_amount }: LookedBack,
  rate: Rate,
  room = lateLinesMaximum,
  atOnce: number = lateUsageAtOnce.invoice,
): Promise<readonly LateLine[]> {
  const known = new Map<string, Promise<InvoiceState>>();
  const billOf = (settled: Settled): Promise<InvoiceState> => {
    const { settlement_id } = settled.settlement;
    const found = known.get(settlement_id) ?? invoiceOf(context, settled);
    known.set(settlement_id, found);
    return found;
  };
  const lookAt = async ({ settled, lookers, isAwaited }: LookedAt): Promise<LateLine[]> => {
    const own = await billOf(settled);
    const others = await Promise.all(lookers.map(billOf));
    // What is not final yet counts its usage itself; what is void, and not billed again, is billed by nobody. Of several that look at it one
    // has to be final before the next one looks, or both would bill the same.
    if (!own || !isOver(own) || own.invoice_status === 'VOIDED' || !others.every(isOver)) return [];
    const { settlement, lines } = settled;
    const rated = await (isAwaited ? rate(settled) : ratedWhereKept(rate, settled));
    if (rated === null) return [];
    const now = linesOfSettlement({ settlement, lines, subscription_id, rated }).filter(isOfUsage);
    const before = await billedByAmount(context, byAmountOf(by_amount, settlement));
    const billed = [...before, ...billedIn(own, others)];
    const gone = vanished(settlement, subscription_id, now, billed);
    const found = differences([...now, ...gone], billed);
    return found.map((line) => ({ line, settled, rated, billed: billedFor(line, billed) }));
  };
  const late: LateLine[] = [];
  if (room <= 0) return late;
  for await (const found of askedAhead(looked, atOnce, lookAt)) {
    late.push(...found);
    if (late.length >= room) break;
  }
  return late;
}

/**
 * The usage of an old settlement, rated; null where its months are dropped, so that nobody can count it. Nothing waits for that: it is
 * looked at again when its turn comes.
 */
async function ratedWhereKept(rate: Rate, settled: Settled): Promise<RatedSettlement | null> {
  try {
    return await rate(settled);
  } catch (error) {
    if (error instanceof Problem && error.details?.reason === 'no_longer_kept') return null;
    throw error;
  }
}

const isOver = (state: InvoiceState): boolean => state !== null && state.invoice_status !== 'DRAFT';

/** The lines that have billed usage so far: on its own invoice, and of what came late for it on others. */
const billedIn = (own: Invoice, others: readonly InvoiceState[]): readonly InvoiceLine[] => [
  ...own.lines.filter(isOfUsage),
  ...others.flatMap((each) =>
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
  const key = useKeyOf({ subscription_id, subscription_line_item_id: null, period_start });
  const found = billed.find((line) => useKeyOf(line) === key);
  if (!found || now.some((line) => useKeyOf(line) === key)) return [];
  return [nothingOf(found)];
}

/** The lines of usage as it is now, each less what was billed for the same line and time. */
function differences(
  now: readonly UnnamedLine[],
  billed: readonly InvoiceLine[],
): readonly UnnamedLine[] {
  const ofLines = Map.groupBy(now, useKeyOf);
  return [...ofLines.values()].flatMap((same) => {
    const [first] = same;
    if (!first) return [];
    const rest = restOf(same, billedFor(first, billed));
    if (rest.amount === zeroText) return [];
    return {
      ...first,
      ...rest,
      kind: 'late_usage' as const,
      commitment: null,
      metadata: { description: `${first.display_name} (Late Usage)` },
    };
  });
}

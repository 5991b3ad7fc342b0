import {
  type DecimalText,
  decimal,
  type Instant,
  type Span,
  type SubscriptionLineId,
  textOf,
  zero,
} from '@counterfoil/kernel';
import { exactCost } from '../../pricing/index.ts';
import {
  brokenOffLines,
  chargeFor,
  closingLines,
  isAdvance,
  openingLines,
  type SettlementContext,
} from './boundaries.ts';
import type { ChargedLine } from './charged-line.ts';
import { creditLines, isCharged } from './credits.ts';
import { ownPeriodsIn } from './own-cycle.ts';
import { prorated } from './proration.ts';
import type { SettlementLine } from './settlement.ts';
import { during } from './spans.ts';

/** Decides if the part of a period before or after a change is charged and given back, or only what comes after the next boundary. */
export type Proration = 'create_prorations' | 'none';

/** A change of lines, as it was asked for; each kind of E 12.2 is a function below. */
export interface Change {
  /** The instant at which it takes effect. */
  readonly at: Instant;
  readonly proration: Proration;
}

/** The end of a subscription. */
export interface Cancellation extends Change {
  /** True where usage and charges in arrears up to the end are not billed any more. */
  readonly skips_arrears: boolean;
}

/** One line that follows another. */
export interface Replacement {
  readonly lines: readonly SettlementLine[];
  readonly ended: ChargedLine;
  /** Carries the charges of the line before it, which can still be credited. */
  readonly begun: ChargedLine;
}

/**
 * Settles the end of a subscription (E 10.7 B): what is owed in arrears up to then, with the periods of longer lines that
 * have begun; and, prorated, a credit for what was charged in advance for the time after it.
 *
 * @param lines with the ends that were known when the last period was closed
 * @param context its window is the period that runs; after one that was closed for good it begins where the subscription ends
 */
export function cancellationLines(
  lines: readonly ChargedLine[],
  context: SettlementContext,
  { at, proration, skips_arrears }: Cancellation,
): SettlementLine[] {
  const arrears = skips_arrears ? [] : arrearsUntil(lines, context, at);
  if (proration === 'none') return arrears;
  // A line that ended before was settled when that was asked for.
  const running = lines.filter(({ end }) => end === null || end > at);
  return [...arrears, ...running.flatMap((line) => creditLines(line, at, context))];
}

function arrearsUntil(
  lines: readonly ChargedLine[],
  context: SettlementContext,
  at: Instant,
): SettlementLine[] {
  const ended = lines.map((line) => endedAt(line, at));
  const window = { start: context.window.start, end: at };
  const commitment = context.commitment && { ...context.commitment, end: at };
  return [
    ...brokenOffLines(lines, context, at),
    ...closingLines(ended, { ...context, window, commitment }),
  ];
}

/**
 * Settles a line that is added, from its start on, which is not before the running period (E 11.2). A line of the subscription's own
 * period is charged for the rest of it if that is prorated, else from the next one on. Nothing of a longer period, or of a
 * price that is charged once, is left out by that: they are charged whole in any case. A line that begins in a later period is charged
 * when that opens.
 */
export function addLine(
  line: ChargedLine,
  context: SettlementContext,
  proration: Proration,
): SettlementLine[] {
  const { own, period, start } = line;
  const isPart = own === null && period !== 'ONETIME' && start > context.window.start;
  if (isPart && proration === 'none') return [];
  return openingLines([line], context);
}

/**
 * Settles a line that is sold for one period alone (E 11.5). Not prorated it is charged whole: no later period would make
 * up for it.
 */
export function addLineOnce(
  line: ChargedLine,
  context: SettlementContext,
  proration: Proration,
): SettlementLine[] {
  if (proration === 'create_prorations') return addLine(line, context, proration);
  const whole = during(context.window, line.start, null) ?? context.whole;
  return openingLines([line], { ...context, whole });
}

/** Settles a line that ends (E 11.3): a credit for what was charged for the time after it. The rest is billed when its period is over. */
export const removeLine = (
  line: ChargedLine,
  context: SettlementContext,
  { at, proration }: Change,
): { readonly lines: readonly SettlementLine[]; readonly ended: ChargedLine } => ({
  lines: [
    ...brokenOffLines([line], context, at),
    ...(proration === 'none' ? [] : creditLines(line, at, context)),
  ],
  ended: endedAt(line, at),
});

/**
 * Settles another quantity of a line (E 11.4). Of one that is charged in advance what is added is charged for the rest of
 * what was charged; where it costs less, the rest is credited and charged again at the new quantity. A
 * line in arrears is billed for each part when its period is over.
 */
export function changeQuantity(
  line: ChargedLine,
  next: { readonly line_item_id: SubscriptionLineId; readonly quantity: DecimalText },
  context: SettlementContext,
  change: Change,
): Replacement {
  const changed = { ...line, ...next };
  const more = decimal(costOf(changed, context)).minus(decimal(costOf(line, context)));
  const added = decimal(next.quantity).minus(decimal(line.quantity));
  if (more.cmp(zero) < 0) return replaceLine(line, changed, context, change);
  const replacement = following(line, changed, change.at, context);
  if (!settles(line, change) || more.eq(zero)) return replacement;
  const { currency, pauses } = context;
  const full_amount = textOf(more);
  const lines = unused(replacement.begun, context).map(({ span, whole }) => ({
    kind: 'charge' as const,
    line_item_id: next.line_item_id,
    span,
    whole,
    quantity: textOf(added),
    full_amount,
    amount: prorated(full_amount, span, whole, pauses, currency),
  }));
  return { ...replacement, lines };
}

/**
 * Settles a line by another with the same periods, such as one at another price (E 11.4): the rest of what was charged is
 * credited, and charged again as the new line has it. A line that is free until the next period stays so.
 */
export function replaceLine(
  line: ChargedLine,
  next: ChargedLine,
  context: SettlementContext,
  change: Change,
): Replacement {
  const replacement = following(line, next, change.at, context);
  const isFree = !isCharged(line, change.at) && !decimal(costOf(line, context)).eq(zero);
  if (!settles(line, change) || isFree) return replacement;
  const charges = unused(replacement.begun, context).map((each) =>
    chargeFor(replacement.begun, each, context),
  );
  return { ...replacement, lines: [...creditLines(line, change.at, context), ...charges] };
}

const settles = (line: ChargedLine, { proration }: Change): boolean =>
  isAdvance(line) && line.period !== 'ONETIME' && proration === 'create_prorations';

/** One line after another as long as nothing is settled of what was charged. */
const following = (
  line: ChargedLine,
  next: ChargedLine,
  at: Instant,
  context: SettlementContext,
): Replacement => ({
  lines: brokenOffLines([line], context, at),
  ended: { ...endedAt(line, at), charged: [] },
  begun: {
    ...next,
    own: line.own,
    start: at > line.start ? at : line.start,
    end: line.end,
    charged: line.charged,
  },
});

/** The line with an end at an instant, unless it ends sooner. */
const endedAt = (line: ChargedLine, at: Instant): ChargedLine =>
  line.end !== null && line.end <= at ? line : { ...line, end: at };

/** The rest of the periods that are charged by now, from the start of a line on. */
function unused(line: ChargedLine, context: SettlementContext) {
  const { own, period, start, end } = line;
  const { window, whole, zone } = context;
  const restOf = (stretch: Span, all: Span) => {
    const span = during(stretch, start, end);
    return span === null ? [] : [{ span, whole: all }];
  };
  if (own === null || period === 'ONETIME') return restOf(window, whole);
  return ownPeriodsIn(own, period, zone, window).flatMap((each) => restOf(each, each));
}

const costOf = ({ terms, quantity }: ChargedLine, { currency }: SettlementContext): DecimalText =>
  exactCost(terms, quantity, currency).unrounded_amount;

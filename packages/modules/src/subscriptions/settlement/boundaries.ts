import {
  type Currency,
  decimal,
  type Instant,
  money,
  moneyText,
  type Span,
} from '@counterfoil/kernel';
import { exactCost } from '../../pricing/index.ts';
import type { ChargedLine } from './charged-line.ts';
import {
  brokenOffTerm,
  type ChargedCommitment,
  commitmentFor,
  commitmentOfPeriod,
} from './commitments.ts';
import { ownPeriodsIn } from './own-cycle.ts';
import { prorated } from './proration.ts';
import type { SettlementCharge, SettlementLine } from './settlement.ts';
import { during, type PauseSpan, pausedIn } from './spans.ts';

/** The time in which the lines of a subscription are settled. */
export interface SettlementContext {
  readonly currency: Currency;
  /** IANA name of the zone in which periods are counted. */
  readonly zone: string;
  /** The period of the subscription that opens, closes or runs; cut where only a part of it does. */
  readonly window: Span;
  /**
   * The time that a price for one period of the subscription pays for: `wholePeriod` where a short first or last period is
   * prorated, else the window itself; with a pause in it as much longer as the window is.
   */
  readonly whole: Span;
  /** Pauses that are over and lie in the window, or in a longer period of a line; they do not overlap. */
  readonly pauses: readonly PauseSpan[];
  /** The commitment of all usage together; null: none. */
  readonly commitment: ChargedCommitment | null;
}

/** A stretch of time for which a line is charged. */
interface Stretch {
  readonly span: Span;
  readonly whole: Span;
}

/**
 * Returns the charges of a period that begins (E 11.1): the lines that are invoiced in advance. A line of the subscription's own
 * period is charged for its part of the window, one with longer periods for those that begin in it, and one that is charged once
 * if it starts in it. What begins later in the window, and is known by now, is charged with it.
 */
export const openingLines = (
  lines: readonly ChargedLine[],
  context: SettlementContext,
): SettlementLine[] =>
  lines
    .filter(isAdvance)
    .flatMap((line) => beginning(line, context).map((each) => chargeFor(line, each, context)));

/**
 * Returns the charges of a period that is over (E 11.1): the lines that are invoiced in arrears, fixed ones with their amount,
 * usage by its span. A line with longer periods is billed for those that end in the window or at its end. A line that ends is
 * billed up to there. With usage comes what it is held against.
 */
export const closingLines = (
  lines: readonly ChargedLine[],
  context: SettlementContext,
): SettlementLine[] => [
  ...lines
    .filter((line) => !isAdvance(line))
    .flatMap((line) => ending(line, context).flatMap((each) => arrears(line, each, context))),
  ...commitmentOfPeriod(context.commitment, context),
];

/**
 * The charges in arrears of longer periods that an end breaks off no later than the running period begins: when the one
 * before it was closed, nobody knew of that end. One that is broken off later is charged when the period is closed that it ends in.
 */
export const brokenOffLines = (
  lines: readonly ChargedLine[],
  context: SettlementContext,
  at: Instant,
): SettlementLine[] =>
  lines.flatMap((line) => {
    const { own, period, start, end } = line;
    const isKnown = at > context.window.start || (end !== null && end <= at);
    if (isKnown || isAdvance(line)) return [];
    const { commitment, line_item_id } = line;
    if (own === null || period === 'ONETIME') {
      return commitment === null ? [] : brokenOffTerm(line_item_id, commitment, at, context);
    }
    return ownPeriodsIn(own, period, context.zone, { start, end: at })
      .filter((whole) => whole.end > context.window.start)
      .flatMap((whole) => partOf({ ...line, end: at }, whole))
      .flatMap((each) => arrears({ ...line, end: at }, each, context));
  });

/** Tells whether a line is charged before the time that it is charged for. */
export const isAdvance = ({ charge, invoiced }: ChargedLine): boolean =>
  charge === 'fixed' && invoiced === 'ADVANCE';

function beginning(line: ChargedLine, context: SettlementContext): Stretch[] {
  const { window } = context;
  if (line.period === 'ONETIME') return once(line, window);
  if (line.own === null) return withSubscription(line, context);
  // One that began before its line did was charged to the line that this one follows.
  const isBegun = ({ start }: Span) => isIn(start, window) && start >= line.start;
  return ownPeriodsIn(line.own, line.period, context.zone, window)
    .filter(isBegun)
    .flatMap((whole) => partOf(line, whole));
}

function ending(line: ChargedLine, context: SettlementContext): Stretch[] {
  const { window } = context;
  if (line.period === 'ONETIME') return once(line, window);
  if (line.own === null) return withSubscription(line, context);
  return ownPeriodsIn(line.own, line.period, context.zone, window)
    .flatMap((whole) => partOf(line, whole))
    .filter(({ span }) => span.end > window.start && span.end <= window.end);
}

const isIn = (at: Instant, { start, end }: Span): boolean => at >= start && at < end;

/** A line that is charged once is charged in the one period that its start lies in (D32, D47, E 11.1). */
const once = ({ start }: ChargedLine, window: Span): Stretch[] => {
  const instant = { start, end: start };
  return isIn(start, window) ? [{ span: instant, whole: instant }] : [];
};

function withSubscription(line: ChargedLine, { window, whole }: SettlementContext): Stretch[] {
  const span = during(window, line.start, line.end);
  return span === null ? [] : [{ span, whole }];
}

function partOf(line: ChargedLine, whole: Span): Stretch[] {
  const span = during(whole, line.start, line.end);
  return span === null ? [] : [{ span, whole }];
}

function arrears(
  line: ChargedLine,
  stretch: Stretch,
  context: SettlementContext,
): SettlementLine[] {
  if (line.charge === 'fixed') return [chargeFor(line, stretch, context)];
  const { line_item_id, commitment, end } = line;
  const { span } = stretch;
  const excluded = pausedIn(span, unbilled(context.pauses));
  return [
    { kind: 'usage', line_item_id, span, excluded },
    ...(commitment === null
      ? []
      : [commitmentFor(line_item_id, { ...commitment, end }, stretch, context)]),
  ];
}

const unbilled = (pauses: readonly PauseSpan[]): readonly Span[] =>
  pauses.filter(({ bills_usage }) => bills_usage !== true);

/** The charge of a line for a stretch of time: its price for the whole, in proportion (E 12.3). */
export function chargeFor(
  line: ChargedLine,
  { span, whole }: Stretch,
  { currency, pauses }: SettlementContext,
): SettlementCharge {
  const { line_item_id, terms, quantity } = line;
  const full_amount = exactCost(terms, quantity, currency).unrounded_amount;
  const amount =
    line.period === 'ONETIME'
      ? moneyText(money(decimal(full_amount), currency))
      : prorated(full_amount, span, whole, pauses, currency);
  return { kind: 'charge', line_item_id, span, whole, quantity, full_amount, amount };
}

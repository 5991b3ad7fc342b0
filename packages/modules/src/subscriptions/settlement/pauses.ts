import { type Instant, millisecondsOf, type Span, shiftedBy } from '@counterfoil/kernel';
import type { SettlementContext } from './boundaries.ts';
import type { ChargedLine, ChargedSpan } from './charged-line.ts';
import { creditLines } from './credits.ts';
import { cycleAfterPause, type OwnCycle, ownPeriodsIn } from './own-cycle.ts';
import type { SettlementCredit } from './settlement.ts';
import { during } from './spans.ts';

/**
 * A line after a pause that is over (D67). For a line time stands still meanwhile: the period that ran lasts longer by exactly
 * the pause's length, and with it all that was charged for it; what lay ahead, its own dates included, is later by as much.
 *
 * @param line with the end that it has itself: that of its subscription does not move
 */
export function afterPause(line: ChargedLine, pause: Span, zone: string): ChargedLine {
  const { own, period } = line;
  const start = later(line.start, pause);
  const end = line.end === null ? null : later(line.end, pause);
  if (own === null || period === 'ONETIME' || own.first.start > pause.start) {
    const charged = line.charged.map((each) => ({ ...each, span: lengthened(each.span, pause) }));
    return { ...line, start, end, own: own && ownAfter(own, pause), charged };
  }
  const next = cycleAfterPause(own, period, zone, pause);
  const moved = (each: ChargedSpan): ChargedSpan => {
    const span = lengthened(each.span, pause);
    if (each.span.start <= pause.start) return { ...each, span };
    // A period that was to come is as long as the calendar makes it from its new start on.
    const window = { start: span.start, end: shiftedBy(span.start, 1) };
    const whole = ownPeriodsIn(next, period, zone, window)[0];
    return { ...each, span: (whole && during(whole, whole.start, end)) ?? span };
  };
  return { ...line, start, end, own: next, charged: line.charged.map(moved) };
}

/** Own periods that had not begun. */
const ownAfter = ({ first }: OwnCycle, pause: Span): OwnCycle => {
  const next = lengthened(first, pause);
  return { anchor: next.end, first: next };
};

/** A stretch of time after a pause: what of it lies after the beginning of the pause is later by its length. */
export const lengthened = ({ start, end }: Span, pause: Span): Span => ({
  start: later(start, pause),
  end: later(end, pause),
});

const later = (instant: Instant, pause: Span): Instant =>
  instant > pause.start
    ? shiftedBy(instant, millisecondsOf(pause.end) - millisecondsOf(pause.start))
    : instant;

/**
 * The credits for what a pause has moved beyond the end of the subscription, which stays where it is: it was paid for, and
 * cannot be used any more.
 */
export const overhangLines = (
  lines: readonly ChargedLine[],
  end: Instant,
  context: SettlementContext,
): SettlementCredit[] => lines.flatMap((line) => creditLines(line, end, context));

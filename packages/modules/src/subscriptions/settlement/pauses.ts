import {
  type Instant,
  lastInstant,
  millisecondsOf,
  type Span,
  shiftedBy,
} from '@counterfoil/kernel';
import type { ChargedLine, ChargedSpan } from './charged-line.ts';
import { cycleAfterPause, ownPeriodsIn } from './own-cycle.ts';
import { during, intersection } from './spans.ts';

/**
 * A line after a pause that is over (D67): the running period lasts longer by exactly its length, and with it all that was
 * charged for it. Own periods of a longer line, and what was charged for those that are to come, are later by as much.
 */
export function afterPause(line: ChargedLine, pause: Span, zone: string): ChargedLine {
  const { own, period, charged } = line;
  if (period === 'ONETIME') return line;
  if (own === null) return { ...line, charged: charged.map((each) => longer(each, pause)) };
  const part = intersection(pause, { start: own.first.start, end: lastInstant });
  if (part === null) return line;
  const next = cycleAfterPause(own, period, zone, part);
  const periodFrom = (start: Instant): Span | undefined =>
    ownPeriodsIn(next, period, zone, { start, end: shiftedBy(start, 1) })[0];
  const moved = (each: ChargedSpan): ChargedSpan => {
    if (each.span.start <= part.start) return longer(each, part);
    const whole = periodFrom(laterBy(each.span.start, part));
    const span = whole && during(whole, whole.start, line.end);
    return { ...each, span: span ?? each.span };
  };
  return { ...line, own: next, charged: charged.map(moved) };
}

/** A stretch of time that a pause lengthens by its length, if it is not over when that begins. */
export const lengthened = (span: Span, pause: Span): Span =>
  span.end > pause.start ? { start: span.start, end: laterBy(span.end, pause) } : span;

const longer = (charged: ChargedSpan, pause: Span): ChargedSpan => ({
  ...charged,
  span: lengthened(charged.span, pause),
});

const laterBy = (instant: Instant, pause: Span): Instant =>
  shiftedBy(instant, millisecondsOf(pause.end) - millisecondsOf(pause.start));

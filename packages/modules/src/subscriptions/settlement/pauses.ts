import { type Instant, millisecondsOf, type Span, shiftedBy } from '@counterfoil/kernel';
import type { ChargedLine } from './charged-line.ts';
import { cycleAfterPause } from './own-cycle.ts';

/**
 * A line after a pause that is over (D67): everything that was charged lasts longer by exactly its length, and so does the
 * own period of a longer line that the pause began in.
 */
export function afterPause(line: ChargedLine, pause: Span, zone: string): ChargedLine {
  const { own, period } = line;
  return {
    ...line,
    own: own === null || period === 'ONETIME' ? own : cycleAfterPause(own, period, zone, pause),
    charged: line.charged.map((each) => ({ ...each, span: lengthened(each.span, pause) })),
  };
}

/** A stretch of time that a pause lengthens by its length, if it is not over when that begins. */
export const lengthened = (span: Span, pause: Span): Span =>
  span.end > pause.start ? { start: span.start, end: laterBy(span.end, pause) } : span;

const laterBy = (end: Instant, pause: Span): Instant =>
  shiftedBy(end, millisecondsOf(pause.end) - millisecondsOf(pause.start));

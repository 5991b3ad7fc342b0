import type { Span } from '@counterfoil/kernel';
import { billedEvery, type Line } from '../lines/line.ts';
import { ownPeriodsIn } from '../settlement/index.ts';
import type { Subscription } from '../subscription.ts';
import { periodContaining, periodOf } from '../time/cycle.ts';

/**
 * The billing periods of a line that meet a stretch of its time: its own, where they are longer than those of its
 * subscription, else those of the rhythm that runs. The time of the line before that, such as a trial, is taken as one.
 */
export function billingPeriodsIn(state: Subscription, line: Line, part: Span): readonly Span[] {
  const every = billedEvery(line.price);
  const known =
    line.own !== null && every !== 'ONETIME'
      ? ownPeriodsIn(line.own, every, state.timezone, part)
      : periodsOfCycle(state, part);
  return withGaps(known, { start: line.start_date, end: part.end }).filter(
    ({ start, end }) => start < part.end && end > part.start,
  );
}

function periodsOfCycle(state: Subscription, part: Span): readonly Span[] {
  const from = part.start > state.cycle.start ? part.start : state.cycle.start;
  if (from >= part.end) return [];
  const periods: Span[] = [];
  // The first one, whatever a pause has done to it.
  let { index } = periodContaining(state, from);
  while (index > state.cycle.first_index && periodOf(state, index).start > from) index -= 1;
  for (;;) {
    const { start, end } = periodOf(state, index);
    if (start >= part.end) return periods;
    if (end > from) periods.push({ start, end });
    index += 1;
  }
}

/** The periods with what they leave out of a stretch up to the last of them, in the order of time. */
function withGaps(known: readonly Span[], part: Span): readonly Span[] {
  const all: Span[] = [];
  let at = part.start;
  for (const period of known) {
    if (period.start > at) all.push({ start: at, end: period.start });
    all.push(period);
    if (period.end > at) at = period.end;
  }
  if (at < part.end) all.push({ start: at, end: part.end });
  return all;
}

import { type Fraction, fraction, minus, nothing, plus } from './fraction.ts';
import type { BilledLife, BilledUse, Moment, Stretch } from './life.ts';
import { anchorOf, day, monthsAfter } from './periods.ts';
import { positive } from './prices.ts';

const sum = (uses: readonly BilledUse[], from: Moment, to: Moment): Fraction =>
  uses
    .filter(({ at }) => from <= at && at < to)
    .reduce((all, { value }) => plus(all, fraction(value)), nothing);

/**
 * The usage of a line in a stretch of time that is charged for: of each period of what is free that the stretch meets, what is above
 * the limit by its end, less what was above it before.
 *
 * @param uses those that can be counted by now
 */
export function chargedUse(
  life: BilledLife,
  line: string,
  span: Stretch,
  uses: readonly BilledUse[],
): Fraction {
  const own = uses.filter((use) => use.line === line);
  const free = life.free.find((each) => each.line === line);
  if (!free) return positive(sum(own, span.from, span.to));
  const limit = fraction(String(free.limit));
  let charged = nothing;
  for (const window of windowsOf(life, free.resets, span)) {
    const from = Math.max(window.from, life.start);
    const above = (to: Moment) => positive(minus(sum(own, from, to), limit));
    const before = above(Math.max(from, Math.min(span.from, window.to)));
    charged = plus(charged, minus(above(Math.min(span.to, window.to)), before));
  }
  return positive(charged);
}

/** The periods of what is free that a stretch meets. */
function windowsOf(
  life: BilledLife,
  resets: BilledLife['free'][number]['resets'],
  span: Stretch,
): readonly Stretch[] {
  if (resets === 'NEVER') return [{ from: life.start, to: span.to }];
  const anchor = anchorOf(life);
  const at = (number: number): Moment =>
    resets === 'DAILY' ? anchor + number * day : monthsAfter(anchor, number);
  const length = resets === 'DAILY' ? day : 31 * day;
  let number = Math.floor((span.from - anchor) / length) - 2;
  while (at(number + 1) <= span.from) number += 1;
  const windows: Stretch[] = [];
  for (; at(number) < span.to; number += 1) windows.push({ from: at(number), to: at(number + 1) });
  return windows;
}

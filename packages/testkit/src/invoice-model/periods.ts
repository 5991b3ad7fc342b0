import type { BilledLife, Moment, Stretch } from './life.ts';

export const hour = 3_600_000;
export const day = 24 * hour;

/** The instant so many months after another, on its day; where the month is too short, on its last. */
export function monthsAfter(moment: Moment, months: number): Moment {
  const date = new Date(moment);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + months];
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const inMonth = Math.min(date.getUTCDate(), last);
  const clock = moment - Math.floor(moment / day) * day;
  return Date.UTC(year, month, inMonth) + clock;
}

/** The instant from which all periods are counted: the start, or the first month or quarter that begins after it. */
export function anchorOf({
  start,
  anchor,
  months,
}: Pick<BilledLife, 'start' | 'anchor' | 'months'>): Moment {
  if (anchor === 'start') return start;
  const date = new Date(start);
  const month = date.getUTCMonth();
  return Date.UTC(date.getUTCFullYear(), month - (month % months) + months, 1);
}

/** The start of a period, from 0 on. */
export function boundary(life: BilledLife, number: number): Moment {
  if (number === 0) return life.start;
  const turn = life.anchor === 'start' ? number : number - 1;
  return monthsAfter(anchorOf(life), turn * life.months);
}

/**
 * The time that the price of a period is for: of a first one that is short, and is to cost as much less, the whole one that it ends.
 * One that begins on the day of a boundary is not short (D63).
 */
export function wholeOf(life: BilledLife, number: number): Stretch {
  const [from, to] = [boundary(life, number), boundary(life, number + 1)];
  const before = monthsAfter(to, -life.months);
  const isShort =
    number === 0 &&
    life.anchor === 'calendar' &&
    life.prorates &&
    Math.floor(before / day) < Math.floor(from / day);
  return { from: isShort ? before : from, to };
}

/** The time that two stretches have in common; null for none. */
export function common(one: Stretch, other: Stretch): Stretch | null {
  const [from, to] = [Math.max(one.from, other.from), Math.min(one.to, other.to)];
  return from < to ? { from, to } : null;
}

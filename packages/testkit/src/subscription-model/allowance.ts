import { Calendar } from './calendar.ts';
import type { ModelLife, Moment, Stretch } from './life.ts';

/**
 * The events of a span that are charged for where the first so many of each reset period are free, counted one by one: those
 * that are free are free once, in whatever span they are billed (E 8.4).
 *
 * @param resets null: the allowance never starts over
 */
export function chargedEvents(
  life: ModelLife,
  events: readonly Moment[],
  billed: Stretch,
  { limit, resets }: { readonly limit: number; readonly resets: ModelLife['unit'] | null },
): number {
  // Whatever starts over is counted from the one anchor of the subscription.
  const { anchor } = new Calendar(life);
  const calendar = new Calendar({ ...life, anchor, unit: resets ?? life.unit, count: 1 });
  const periodOf = (at: Moment): number => {
    if (resets === null) return 0;
    let number = 0;
    while (calendar.period(number).span.to <= at) number += 1;
    return number;
  };
  const used = new Map<number, number>();
  let charged = 0;
  for (const at of [...events].sort((one, other) => one - other)) {
    if (at < calendar.start || at >= billed.to) continue;
    const period = periodOf(at);
    const count = (used.get(period) ?? 0) + 1;
    used.set(period, count);
    if (at >= billed.from && count > limit) charged += 1;
  }
  return charged;
}

import { type Decimal, divide, textOf, zero } from '@counterfoil/kernel';
import type { Margin } from './schema.ts';

/** Money that came in or went out, by what it is for. */
export interface Entry {
  readonly currency: string;
  readonly revenue: Decimal;
  readonly cost: Decimal;
  readonly plan_id: string | null;
  readonly meter_id: string | null;
}

const ratioPlaces = 6;

/** The margins of entries: one of each currency, in the order of their codes. */
export const marginsOf = (entries: readonly Entry[]): Margin[] =>
  [...Map.groupBy(entries, ({ currency }) => currency)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([currency, same]) => marginOf(currency, same));

function marginOf(currency: string, entries: readonly Entry[]): Margin {
  const revenue = sum(entries.map((entry) => entry.revenue));
  const cost = sum(entries.map((entry) => entry.cost));
  const margin = revenue.minus(cost);
  return {
    currency,
    revenue: textOf(revenue),
    cost: textOf(cost),
    margin: textOf(margin),
    margin_ratio: ratio(margin, revenue),
    return_on_cost: ratio(margin, cost),
  };
}

const ratio = (part: Decimal, whole: Decimal): string | null =>
  whole.eq(zero) ? null : textOf(divide(part, whole, ratioPlaces));

const sum = (amounts: readonly Decimal[]): Decimal =>
  amounts.reduce((all, amount) => all.plus(amount), zero);

/** The margins of entries by something that they are for, those of nothing last. */
export const marginsBy = (
  entries: readonly Entry[],
  of: (entry: Entry) => string | null,
): readonly (readonly [id: string | null, margin: Margin])[] =>
  [...Map.groupBy(entries, of)]
    .toSorted(([one], [other]) => ((one ?? '\uffff') < (other ?? '\uffff') ? -1 : 1))
    .flatMap(([id, same]) => marginsOf(same).map((margin) => [id, margin] as const));

type Plans = readonly Pick<Entry, 'plan_id' | 'meter_id'>[];

/**
 * The plan that the usage of a meter is of: the one by which the customer was billed for it, or else for anything. Null where there is none, or where there are
 * several: nobody knows then how much was used by which.
 */
export function planOf(billed: Plans, meterId: string): string | null {
  const byMeter = plansOf(billed.filter(({ meter_id }) => meter_id === meterId));
  const plans = byMeter.length > 0 ? byMeter : plansOf(billed);
  const [plan, ...others] = plans;
  return plan !== undefined && others.length === 0 ? plan : null;
}

const plansOf = (billed: Plans): readonly string[] => [
  ...new Set(billed.flatMap(({ plan_id }) => plan_id ?? [])),
];

import type { RequestContext } from '@counterfoil/engine/define';
import {
  type Currency,
  type Decimal,
  type DecimalText,
  decimal,
  type Span,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import { type Aggregation, type MeterRecord, meter } from '../meters/index.ts';
import { type PriceRecord, priceFieldsOf } from '../offers/index.ts';
import { exactCost, exactCostOfBuckets, priceTermsOf } from '../pricing/index.ts';
import type { PropertyFilters, usageInStretches } from '../usage/index.ts';

/** The way of reading usage, and the position up to which it counts. */
export interface UsageMoment {
  readonly position: string;
  readonly usageIn: typeof usageInStretches;
}

/** Customers whose usage costs something, as if they were one, and the zone in which its buckets begin. */
export interface User {
  readonly ids: readonly string[];
  readonly timezone: string;
}

/** The cost of what one meter has counted. */
export interface Cost {
  readonly currency: string;
  readonly amount: Decimal;
  readonly meter_id: string;
}

/** The meters of prices of usage, by their ids. */
export async function metersOf(
  context: RequestContext,
  prices: readonly PriceRecord[],
): Promise<ReadonlyMap<string, MeterRecord>> {
  const meters = new Map<string, MeterRecord>();
  for (const id of new Set(prices.flatMap(({ meter_id }) => meter_id ?? []))) {
    const found = await context.load(meter, id);
    if (found) meters.set(id, found);
  }
  return meters;
}

/**
 * The cost of the usage of a customer in a span, or of what filters choose of it, by the prices of a costsheet, exact: each price for its part of the span, its tiers and packages
 * beginning anew with every customer and every such part.
 */
export async function costsOf(
  context: RequestContext,
  user: User,
  span: Span,
  { prices, meters, moment, filters }: CostSource,
): Promise<readonly Cost[]> {
  const costs: Cost[] = [];
  for (const price of prices) {
    const counted = meters.get(price.meter_id ?? '');
    const part = partOf(span, price);
    if (!counted || part === null) continue;
    const amount = await costOf(context, { user, price, counted, span: part, moment, filters });
    if (!amount.eq(zero)) costs.push({ currency: price.currency, amount, meter_id: counted.id });
  }
  return costs;
}

/** The prices of usage of a costsheet, with their meters, and usage itself, or what filters beside those of meters choose of it. */
export interface CostSource {
  readonly filters: PropertyFilters;
  readonly prices: readonly PriceRecord[];
  readonly meters: ReadonlyMap<string, MeterRecord>;
  readonly moment: UsageMoment;
}

/** The part of a span in which a price is in force; null where it never is. */
function partOf(span: Span, { start_date, end_date }: PriceRecord): Span | null {
  const start = start_date > span.start ? start_date : span.start;
  const end = end_date !== null && end_date < span.end ? end_date : span.end;
  return start < end ? { start, end } : null;
}

interface Measured {
  readonly user: User;
  readonly price: PriceRecord;
  readonly counted: MeterRecord;
  readonly span: Span;
  readonly moment: UsageMoment;
  readonly filters: PropertyFilters;
}

async function costOf(
  context: RequestContext,
  { user, price, counted, span, moment, filters }: Measured,
): Promise<Decimal> {
  const aggregation = counted.aggregation as Aggregation;
  const { bucket_size: size, group_by } = aggregation;
  const groups = await moment.usageIn(context, {
    eventName: counted.event_name,
    stretches: [{ customerIds: user.ids, span }],
    aggregation,
    filters: [...counted.filters, ...filters],
    sources: [],
    groupings: size && group_by ? [{ kind: 'property', name: group_by }] : [],
    span,
    zone: user.timezone,
    windows: size ? { size, zone: user.timezone } : null,
  });
  const terms = priceTermsOf(priceFieldsOf(price));
  const currency = price.currency as Currency;
  if (size) {
    const buckets = groups.flatMap(({ windows }) => windows.map(({ value }) => chargeable(value)));
    return decimal(exactCostOfBuckets(terms, buckets, currency).unrounded_amount);
  }
  return decimal(exactCost(terms, chargeable(groups[0]?.value ?? null), currency).unrounded_amount);
}

/** Corrections can take usage below zero, which costs nothing. */
const chargeable = (value: DecimalText | null): DecimalText =>
  value !== null && decimal(value).cmp(zero) > 0 ? value : zeroText;

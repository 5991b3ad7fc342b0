/**
 * A second way to the amount of a line, with arithmetic and a calendar of its own: it shares nothing with the code
 * that it judges but the form of the request. It walks usage event by event, each of which is free for as long as its
 * period of the allowance has something left, and prices what is left over by cutting the quantity at every bound.
 */
import type { PriceTerms, Tier } from '../pricing/index.ts';
import type { CommitmentTerms } from './request.ts';
import {
  ceiling,
  type Fraction,
  floor,
  fraction,
  isLess,
  least,
  minus,
  most,
  nothing,
  plus,
  times,
  total,
} from './test-fraction.ts';

/** Usage at a time, in milliseconds since 1970. */
export interface PlainEvent {
  readonly at: number;
  readonly quantity: Fraction;
}

export interface PlainAllowance {
  readonly limit: Fraction;
  /** Days or months of a period; null: it never starts over. */
  readonly length: { readonly days: number } | { readonly months: number } | null;
  readonly anchor: number;
  readonly start: number;
}

/** The part that is above the allowance of the events within a period, in UTC. */
export function plainBillable(
  events: readonly PlainEvent[],
  { from, to }: { readonly from: number; readonly to: number },
  allowance: PlainAllowance,
): Fraction {
  const left = new Map<string, Fraction>();
  let billable = nothing;
  const known = events.filter(({ at }) => at >= allowance.start && at < to);
  for (const { at, quantity } of known.sort((a, b) => a.at - b.at)) {
    const key = keyOf(at, allowance);
    const free = left.get(key) ?? allowance.limit;
    const covered = least(free, quantity);
    left.set(key, minus(free, covered));
    if (at >= from) billable = plus(billable, minus(quantity, covered));
  }
  return billable;
}

const day = 86_400_000;

/** A name for the period of the allowance that a time lies in. */
function keyOf(at: number, { length, anchor, start }: PlainAllowance): string {
  if (length === null) return 'ever';
  const afterFirstDay = Math.floor(start / day) * day + day;
  let n = numberBefore(afterFirstDay, anchor, length);
  while (occurrence(n, anchor, length) < afterFirstDay) n += 1;
  if (at < occurrence(n, anchor, length)) return 'first';
  return String(numberBefore(at, anchor, length));
}

type Length = NonNullable<PlainAllowance['length']>;

function occurrence(n: number, anchor: number, length: Length): number {
  if ('days' in length) return anchor + n * length.days * day;
  const date = new Date(anchor);
  const months = date.getUTCFullYear() * 12 + date.getUTCMonth() + n * length.months;
  const [year, month] = [Math.floor(months / 12), months % 12];
  const lengths = [31, year % 4 === 0 ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  const inMonth = Math.min(date.getUTCDate(), lengths[month] ?? 0);
  return Date.UTC(year, month, inMonth) + (((anchor % day) + day) % day);
}

function numberBefore(at: number, anchor: number, length: Length): number {
  const guess = 'days' in length ? length.days * day : length.months * 31 * day;
  let n = Math.floor((at - anchor) / guess) - 2;
  while (occurrence(n + 1, anchor, length) <= at) n += 1;
  while (occurrence(n, anchor, length) > at) n -= 1;
  return n;
}

/** The exact price of a quantity in the currency; nothing for nothing. */
export function plainPrice(terms: PriceTerms, quantity: Fraction): Fraction {
  if (quantity.upper <= 0n) return nothing;
  const inUnits = priceInUnits(terms, quantity);
  return terms.price_unit === null
    ? inUnits
    : times(inUnits, fraction(terms.price_unit.conversion_rate));
}

function priceInUnits(terms: PriceTerms, quantity: Fraction): Fraction {
  switch (terms.model) {
    case 'flat_fee':
      return times(fraction(terms.unit_amount), quantity);
    case 'package': {
      const parts = times(quantity, { upper: 1n, lower: BigInt(terms.divide_by) });
      const packages = terms.round === 'up' ? ceiling(parts) : floor(parts);
      return times({ upper: packages, lower: 1n }, fraction(terms.package_amount));
    }
    case 'volume': {
      // From above: the last tier whose lower bound lies below the quantity.
      const place = terms.tiers.findLastIndex((_, index) =>
        isLess(boundBelow(terms.tiers, index), quantity),
      );
      return ofTier(terms.tiers[place], quantity);
    }
    case 'graduated':
      return total(terms.tiers.map((tier, index) => slice(terms.tiers, index, tier, quantity)));
  }
}

const boundBelow = (tiers: readonly Tier[], index: number): Fraction =>
  index === 0 ? nothing : fraction(tiers[index - 1]?.up_to ?? '0');

/** The part of a quantity from the bound below to the tier's own, at its price. */
function slice(tiers: readonly Tier[], index: number, tier: Tier, quantity: Fraction): Fraction {
  const below = boundBelow(tiers, index);
  const isEndless = tier.up_to === null || index === tiers.length - 1;
  const width = isEndless ? quantity : minus(fraction(tier.up_to ?? '0'), below);
  const part = least(width, most(nothing, minus(quantity, below)));
  return part.upper === 0n ? nothing : ofTier(tier, part);
}

const ofTier = (tier: Tier | undefined, quantity: Fraction): Fraction =>
  tier ? plus(times(fraction(tier.unit_amount), quantity), fraction(tier.flat_amount)) : nothing;

/** A cost under a commitment: the money below it at face value, the money above it times the factor. */
export function plainCommitted(
  used: Fraction,
  terms: CommitmentTerms,
  price: PriceTerms,
  { prior, isTruedUp }: { readonly prior: Fraction; readonly isTruedUp: boolean },
): Fraction {
  const committed =
    terms.committed.kind === 'amount'
      ? fraction(terms.committed.amount)
      : plainPrice(price, fraction(terms.committed.quantity));
  const reached = plus(prior, used);
  const above = most(nothing, minus(reached, most(prior, committed)));
  const below = minus(used, above);
  const missing = most(nothing, minus(committed, reached));
  const factor = fraction(terms.overage_factor);
  return total([below, times(above, factor), isTruedUp ? missing : nothing]);
}

import {
  type Currency,
  type Instant,
  invalidOperation,
  type PeriodUnit,
} from '@counterfoil/kernel';
import { chainOf, type Offer, type PriceRecord } from '../../offers/index.ts';

/** The rhythm in which a subscription is billed. */
export interface Rhythm {
  readonly unit: PeriodUnit;
  readonly count: number;
}

/** Months in a unit; days and weeks are in none a whole number of times. */
const months: Readonly<Partial<Record<PeriodUnit, number>>> = {
  MONTHLY: 1,
  QUARTERLY: 3,
  HALF_YEARLY: 6,
  ANNUAL: 12,
};

/**
 * Tells whether a price can be billed by a subscription of a rhythm: it has the same, or a longer one that is a
 * multiple of it, which only months can be (E 2.1), or is charged once.
 */
export function fitsRhythm(
  price: Pick<PriceRecord, 'billing_period' | 'billing_period_count'>,
  { unit, count }: Rhythm,
): boolean {
  const { billing_period, billing_period_count } = price;
  if (billing_period === 'ONETIME') return true;
  if (billing_period === unit && billing_period_count === count) return true;
  const [of, by] = [months[billing_period], months[unit]];
  if (of === undefined || by === undefined) return false;
  return (of * billing_period_count) % (by * count) === 0;
}

/**
 * The prices of a plan or an add-on that a subscription is sold under (E 2.5): of each chain the one that is in force when it
 * starts, else the first to come, where currency and rhythm fit.
 *
 * @returns none of an add-on that has no prices at all: it gives something else
 * @throws a Problem when none does
 */
export function offeredPrices(
  { prices, root }: Offer,
  currency: Currency,
  rhythm: Rhythm,
  start: Instant,
): readonly PriceRecord[] {
  const offered = prices.filter(
    (price) =>
      price.status === 'published' && price.currency === currency && isToCome(price, start),
  );
  const chosen = new Map<string, PriceRecord>();
  for (const price of offered.filter((each) => fitsRhythm(each, rhythm))) {
    const known = chosen.get(chainOf(price));
    if (!known || price.start_date < known.start_date) chosen.set(chainOf(price), price);
  }
  const sold = [...chosen.values()];
  // One that is charged once goes with every rhythm, but does not make an offer fit that is charged otherwise.
  const isFit = sold.some(isRecurring) || !offered.some(isRecurring);
  if (sold.length > 0 && isFit) return sold;
  if (root.kind === 'ADDON' && prices.every(({ status }) => status !== 'published')) return [];
  const { id, name } = root.record;
  const period = rhythm.count === 1 ? rhythm.unit : `${rhythm.count} × ${rhythm.unit}`;
  throw invalidOperation(
    `The ${root.kind === 'ADDON' ? 'add-on' : 'plan'} ${name} (${id}) has no price in ${currency} that can be billed ${period}.`,
    { reason: 'unsuitable' },
  );
}

const isRecurring = ({ billing_period }: PriceRecord): boolean => billing_period !== 'ONETIME';

/** Tells whether a price is in force at an instant or will be; one that was deleted before it began never is. */
const isToCome = ({ start_date, end_date }: PriceRecord, at: Instant): boolean =>
  end_date === null || (end_date > at && end_date > start_date);

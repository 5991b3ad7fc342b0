import {
  currencySchema,
  decimal,
  decimalPlaces,
  invalidField,
  positiveDecimalSchema,
  type WindowSize,
} from '@counterfoil/kernel';
import { z } from 'zod';
import {
  overrideFiguresShape,
  type Price,
  type PriceRecord,
  priceFieldsOf,
  priceSchema,
  repricedFigures,
} from '../../offers/index.ts';
import { priceTermsOf } from '../../pricing/index.ts';
import { type CommitmentSlot, slotFault } from '../../rating/index.ts';
import type { SoldPrice } from '../lines/line.ts';
import type { TimeBucketData } from './commitment.ts';
import { commitmentTypeSchema } from './committed.ts';

/** Parts of the day that one line has at most. */
const maximumBuckets = 48;

const clockSchema = z
  .object({
    hour: z.number().int().min(0).max(24),
    minute: z.number().int().min(0).max(59).optional(),
  })
  .meta({ id: 'ClockTime' });

const bucketShape = {
  start: clockSchema,
  end: clockSchema.meta({ description: 'Exclusive' }),
} as const;

/** Parts of the day of a line, as a request has them. */
export const timeBucketsSchema = z
  .array(
    z
      .object({
        ...bucketShape,
        id: z.string().max(64).nullish(),
        commitment_type: commitmentTypeSchema,
        commitment_value: positiveDecimalSchema(decimalPlaces.price),
        overage_factor: positiveDecimalSchema(decimalPlaces.rate).meta({
          description: 'At least 1',
        }),
        true_up_enabled: z.boolean().nullish(),
        price: z
          .object({ ...overrideFiguresShape, currency: currencySchema.nullish() })
          .meta({ id: 'TimeBucketPrice' })
          .nullish()
          .meta({ description: 'Default: as the line' }),
      })
      .meta({ id: 'CommitmentTimeBucket' }),
  )
  .max(maximumBuckets);
export type TimeBuckets = z.output<typeof timeBucketsSchema>;

/** The same as they are shown. */
export const shownTimeBucketsSchema = z.array(
  z
    .object({
      ...bucketShape,
      id: z.string(),
      commitment_type: commitmentTypeSchema,
      commitment_value: z.string(),
      overage_factor: z.string(),
      true_up_enabled: z.boolean(),
      price: priceSchema.optional(),
    })
    .meta({ id: 'ShownCommitmentTimeBucket' }),
);
type Shown = z.output<typeof shownTimeBucketsSchema>;

type Clock = Shown[number]['start'];

const minutesOf = ({ hour, minute = 0 }: Clock): number => hour * 60 + minute;

const clockAt = (minutes: number): Clock => ({
  hour: Math.floor(minutes / 60),
  minute: minutes % 60,
});

/** The parts of the day as a request asks for them, in their order. Throws a Problem that names the member. */
export function timeBucketsOf(
  asked: TimeBuckets,
  price: SoldPrice,
  pointer: string,
): readonly TimeBucketData[] {
  return asked
    .map((bucket, index): TimeBucketData => {
      const place = `${pointer}/${index}`;
      const { commitment_type: kind, commitment_value: value, overage_factor } = bucket;
      if (decimal(overage_factor).cmp(decimal('1')) < 0) {
        throw invalidField(`${place}/overage_factor`, 'must be at least 1');
      }
      const [from_minute, to_minute] = [minutesOf(bucket.start), minutesOf(bucket.end)];
      if (from_minute === to_minute) throw invalidField(`${place}/end`, 'must not be the start');
      for (const [name, minutes] of [
        ['start', from_minute],
        ['end', to_minute],
      ] as const) {
        if (minutes > 24 * 60) throw invalidField(`${place}/${name}`, 'is after midnight, 24:00');
      }
      return {
        from_minute,
        to_minute,
        committed: kind === 'amount' ? { kind, amount: value } : { kind, quantity: value },
        overage_factor,
        true_up: bucket.true_up_enabled ?? false,
        price: bucket.price ? figuresOf(bucket.price, price, `${place}/price`) : null,
      };
    })
    .sort((left, right) => left.from_minute - right.from_minute);
}

/** Figures that stand in for those of the price of the line. */
function figuresOf(
  { currency, ...figures }: NonNullable<TimeBuckets[number]['price']>,
  price: SoldPrice,
  pointer: string,
): TimeBucketData['price'] {
  if (currency && currency !== price.currency) {
    throw invalidField(`${pointer}/currency`, `must be ${price.currency}, as of the line`);
  }
  return repricedFigures(price as unknown as PriceRecord, { ...figures, metadata: undefined });
}

/**
 * The fault of parts of the day for the windows of a meter (E 14.4): that a window does not lie in one as a whole, or in two, or that
 * there are none; null for none.
 */
export const bucketsFault = (
  buckets: readonly TimeBucketData[],
  size: WindowSize | null,
): string | null => (size === null ? 'the meter has no buckets' : slotFault(buckets, size));

/** The parts of the day as rating takes them. */
export const slotsOf = (
  buckets: readonly TimeBucketData[],
  price: SoldPrice,
): readonly CommitmentSlot[] =>
  buckets.map(({ price: figures, committed, overage_factor, true_up, ...times }) => ({
    ...times,
    terms: priceTermsOf(priceFieldsOf({ ...price, ...figures })),
    commitment: { committed, overage_factor, true_up },
  }));

/** The parts of the day on the wire; `priceOf` shows a price of the line with other figures. */
export const shownTimeBuckets = (
  buckets: readonly TimeBucketData[],
  priceOf: (figures: NonNullable<TimeBucketData['price']>) => Price,
): Shown =>
  buckets.map(({ from_minute, to_minute, committed, overage_factor, true_up, price }) => ({
    id: `${from_minute}-${to_minute}`,
    start: clockAt(from_minute),
    end: clockAt(to_minute),
    commitment_type: committed.kind,
    commitment_value: committed.kind === 'amount' ? committed.amount : committed.quantity,
    overage_factor,
    true_up_enabled: true_up,
    ...(price && { price: priceOf(price) }),
  }));

import { type DecimalText, decimal, decimalPlaces, textOf } from '@counterfoil/kernel';
import { z } from 'zod';

const figure = z.string().transform((text) => text as DecimalText);

/** A threshold: so much usage, or so many percent of a limit. */
export const thresholdData = z.object({ type: z.enum(['absolute', 'percent']), value: figure });
export type Threshold = z.output<typeof thresholdData>;

/** The limit that percentages are of. It stands in the definition. */
export const limitData = z.object({ type: z.literal('given'), value: figure });
export type UsageLimit = z.output<typeof limitData>;

/** A threshold with the usage at which it is crossed. */
export interface PlacedThreshold {
  readonly threshold: Threshold;
  readonly level: DecimalText;
}

const hundredth = decimal('0.01');

/** The usage at which a threshold is crossed, exactly; null for a percentage of nothing. */
export function levelOf(
  { type, value }: Threshold,
  limit: Pick<UsageLimit, 'value'> | null,
): DecimalText | null {
  switch (type) {
    case 'absolute':
      return value;
    case 'percent':
      return limit && textOf(decimal(value).times(decimal(limit.value)).times(hundredth));
    default:
      return type satisfies never;
  }
}

/** Fraction digits of a percentage, as of every rate. */
export const percentPlaces = decimalPlaces.rate;

/** Tells whether two thresholds are the same: written alike, and crossed at the same usage. */
export const isSame = (one: PlacedThreshold, other: PlacedThreshold): boolean =>
  one.threshold.type === other.threshold.type &&
  one.threshold.value === other.threshold.value &&
  one.level === other.level;

/**
 * The thresholds that some usage is at or above and that were not crossed before, lowest first. Usage of nothing (null)
 * crosses none.
 */
export function newlyCrossed(
  thresholds: readonly Threshold[],
  limit: UsageLimit | null,
  usage: DecimalText | null,
  before: readonly PlacedThreshold[],
): readonly PlacedThreshold[] {
  if (usage === null) return [];
  const used = decimal(usage);
  return thresholds
    .flatMap((threshold) => {
      const level = levelOf(threshold, limit);
      return level === null ? [] : [{ threshold, level }];
    })
    .filter(({ level }) => used.cmp(decimal(level)) >= 0)
    .filter((one) => !before.some((other) => isSame(one, other)))
    .sort((one, other) => decimal(one.level).cmp(decimal(other.level)));
}

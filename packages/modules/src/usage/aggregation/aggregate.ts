import {
  type Decimal,
  type DecimalText,
  decimal,
  decimalPlaces,
  divide,
  type Instant,
  millisecondsOf,
  type Span,
  textOf,
  zero,
} from '@counterfoil/kernel';
import type { Aggregation } from '../../meters/index.ts';
import type { Measured, SummedUp } from './measure.ts';

/** A measured event, or several that were summed up before. */
export interface Reading {
  readonly at: Instant;
  readonly measured: Measured;
  /** The bucket that it stands in, and its group within it; both empty without buckets. */
  readonly bucket: string;
  readonly group: string;
}

/**
 * An aggregation under way over a window. Readings come in the order of their time and, at one instant, of the log.
 * What is bad counts nowhere.
 */
export interface Accumulator {
  add(reading: Reading): void;
  /** The value of what has come; null where there is none to be had (D56). */
  value(): DecimalText | null;
}

/**
 * Begins an aggregation over a window (E 4.1, D56).
 *
 * @param before the sum of all values before the window, where WEIGHTED_SUM begins
 */
export function accumulator(
  { type, multiplier }: Pick<Aggregation, 'type' | 'multiplier'>,
  span: Span,
  before: Decimal = zero,
): Accumulator {
  switch (type) {
    case 'COUNT':
      return counting();
    case 'SUM':
      return summing((sum) => sum);
    case 'SUM_WITH_MULTIPLIER': {
      const factor = decimal(multiplier ?? '1');
      return summing((sum) => sum.times(factor));
    }
    case 'AVG':
      return summing((sum, count) =>
        count === 0 ? null : divide(sum, wholeNumber(count), decimalPlaces.quantity),
      );
    case 'MAX':
      return maxima();
    case 'LATEST':
      return latest();
    case 'COUNT_UNIQUE':
      return distinct();
    case 'WEIGHTED_SUM':
      return weighted(span, before);
    default:
      return type satisfies never;
  }
}

const wholeNumber = (count: number): Decimal => decimal(String(count));

const shown = (value: Decimal | null): DecimalText | null =>
  value === null ? null : textOf(value);

function counting(): Accumulator {
  let count = 0;
  return {
    add: ({ measured }) => {
      if (measured.kind === 'sums') count += measured.count;
      else if (measured.kind !== 'bad') count += 1;
    },
    value: () => textOf(wholeNumber(count)),
  };
}

/** Calls `add` with the numbers among the readings. */
const ofNumbers =
  (add: (value: Decimal, reading: Reading) => void): Accumulator['add'] =>
  (reading) => {
    if (reading.measured.kind === 'number') add(reading.measured.value, reading);
  };

/** The sums that a reading brings; null for one that brings none. */
function sumsOf(measured: Measured): Omit<SummedUp, 'kind'> | null {
  if (measured.kind === 'sums') return measured;
  return measured.kind === 'number' ? { count: 1, total: measured.value, moment: zero } : null;
}

function summing(result: (sum: Decimal, count: number) => Decimal | null): Accumulator {
  let sum = zero;
  let count = 0;
  return {
    add: ({ measured }) => {
      const sums = sumsOf(measured);
      if (!sums) return;
      sum = sum.plus(sums.total);
      count += sums.count;
    },
    value: () => shown(result(sum, count)),
  };
}

/** The sum of the greatest values of each bucket and group: the greatest of all where there are none. */
function maxima(): Accumulator {
  const greatest = new Map<string, Decimal>();
  return {
    add: ofNumbers((value, { bucket, group }) => {
      const key = `${bucket}\n${group}`;
      const known = greatest.get(key);
      if (known === undefined || value.cmp(known) > 0) greatest.set(key, value);
    }),
    value: () =>
      greatest.size === 0
        ? null
        : textOf([...greatest.values()].reduce((sum, value) => sum.plus(value), zero)),
  };
}

function latest(): Accumulator {
  let last: Decimal | null = null;
  return {
    add: ofNumbers((value) => {
      last = value;
    }),
    value: () => shown(last),
  };
}

function distinct(): Accumulator {
  const texts = new Set<string>();
  let others = 0;
  return {
    add: ({ measured }) => {
      if (measured.kind === 'text') texts.add(measured.text);
      else if (measured.kind === 'sums') others += measured.count;
    },
    value: () => textOf(wholeNumber(texts.size + others)),
  };
}

/**
 * The mean level over the window: each event changes the level by its value, and the level at the start is the sum of
 * all before it. Null where nothing was ever counted, or the window has no length.
 */
function weighted({ start, end }: Span, before: Decimal): Accumulator {
  const endsAt = millisecondsOf(end);
  const length = endsAt - millisecondsOf(start);
  let area = before.times(wholeNumber(Math.max(0, length)));
  let isCounted = !before.eq(zero);
  return {
    add: ({ at, measured }) => {
      const sums = sumsOf(measured);
      if (!sums) return;
      const toEnd = wholeNumber(endsAt - millisecondsOf(at));
      area = area.plus(sums.total.times(toEnd)).minus(sums.moment);
      isCounted ||= sums.count > 0;
    },
    value: () =>
      isCounted && length > 0
        ? textOf(divide(area, wholeNumber(length), decimalPlaces.quantity))
        : null,
  };
}

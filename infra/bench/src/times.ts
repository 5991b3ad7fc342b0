/** The distribution of measured times, in milliseconds. */
export interface Times {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly maximum: number;
  readonly count: number;
}

/** The distribution of these times, to a tenth of a millisecond. */
export function timesOf(taken: readonly number[]): Times {
  const sorted = taken.toSorted((left, right) => left - right);
  const share = (part: number): number =>
    Math.round((sorted[Math.floor((sorted.length - 1) * part)] ?? 0) * 10) / 10;
  return {
    p50: share(0.5),
    p95: share(0.95),
    p99: share(0.99),
    maximum: share(1),
    count: sorted.length,
  };
}

/** The value in the middle; of an even number of values, the mean of the two. NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const last = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(last)] ?? Number.NaN) + (sorted[Math.ceil(last)] ?? Number.NaN)) / 2;
}

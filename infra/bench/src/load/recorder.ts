import { build, encodeIntoCompressedBase64, type Histogram } from 'hdr-histogram-js';
import type { Latency, Sample } from './plan.ts';

/** The longest time that the histogram distinguishes, in microseconds: two minutes. */
const longestMicroseconds = 120_000_000;

interface Kept {
  readonly histogram: Histogram;
  requests: number;
  entries: number;
}

const emptyHistogram = (): Histogram =>
  build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: longestMicroseconds,
    numberOfSignificantValueDigits: 3,
    autoResize: false,
  });

/**
 * Records the time between two instants (of `performance.now`): the times of the requests that were due
 * then, however late their answers come, and the number of answers that come then.
 */
export class Recorder {
  readonly #from: number;
  readonly #to: number;
  readonly #kept = new Map<string, Kept>();

  constructor(from: number, to: number) {
    this.#from = from;
    this.#to = to;
  }

  /** Records an answer: the instants at which its request was due and it came, and the entries it made. */
  note(name: string, intendedAt: number, answeredAt: number, entries: number): void {
    const kept = this.#of(name);
    if (this.#isMeasured(intendedAt)) {
      const microseconds = Math.round((answeredAt - intendedAt) * 1_000);
      kept.histogram.recordValue(Math.min(longestMicroseconds, Math.max(1, microseconds)));
    }
    if (this.#isMeasured(answeredAt)) {
      kept.requests += 1;
      kept.entries += entries;
    }
  }

  samples(): Sample[] {
    const seconds = (this.#to - this.#from) / 1_000;
    return [...this.#kept].map(([name, { histogram, requests, entries }]) => ({
      name,
      requests,
      entries,
      requestsPerSecond: requests / seconds,
      entriesPerSecond: entries / seconds,
      latency: latencyOf(histogram),
      histogram: encodeIntoCompressedBase64(histogram),
    }));
  }

  #isMeasured(instant: number): boolean {
    return instant >= this.#from && instant < this.#to;
  }

  #of(name: string): Kept {
    const known = this.#kept.get(name);
    if (known) return known;
    const kept = { histogram: emptyHistogram(), requests: 0, entries: 0 };
    this.#kept.set(name, kept);
    return kept;
  }
}

function latencyOf(histogram: Histogram): Latency {
  const at = (percentile: number): number => histogram.getValueAtPercentile(percentile) / 1_000;
  return {
    p50: at(50),
    p95: at(95),
    p99: at(99),
    p999: at(99.9),
    maximum: histogram.maxValue / 1_000,
  };
}

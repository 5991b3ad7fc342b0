import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { lostLines } from './log-output.ts';

/** The description of a metric. Names carry the unit: `_seconds`, `_bytes`, `_total`. */
export interface MetricDescription<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

interface HistogramDescription<Label extends string> extends MetricDescription<Label> {
  /** Upper bounds, ascending. */
  readonly buckets?: readonly number[];
}

interface GaugeDescription<Label extends string> extends MetricDescription<Label> {
  /** Called at every collection, to set the value that is true at that moment. */
  readonly collect?: (gauge: Gauge<Label>) => void | Promise<void>;
}

/** The metrics of a process: one registry, and helpers that register in it. */
export interface Metrics {
  readonly registry: Registry;
  /** Registers a counter. The same name gives the same counter. */
  counter<Label extends string = never>(description: MetricDescription<Label>): Counter<Label>;
  /** Registers a gauge. The same name gives the same gauge. */
  gauge<Label extends string = never>(description: GaugeDescription<Label>): Gauge<Label>;
  /** Registers a histogram. The same name gives the same histogram. */
  histogram<Label extends string = never>(
    description: HistogramDescription<Label>,
  ): Histogram<Label>;
}

/** Bounds for durations in seconds, from a fold in memory to the longest time-out. */
export const durationBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const;

/** Longer than a process lives: see `collectProcessMetrics`. */
const neverMilliseconds = 2 ** 31 - 1;
const sampledDelays = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'] as const;

/**
 * The figures of the process, but for the delays of its event loop that a timer would sample every ten milliseconds:
 * a process that has nothing to do would spend more on that than on all else (7 ms of a second of processor time,
 * measured). The time in which the loop is busy costs nothing to know, and tells of the same trouble.
 */
function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMilliseconds });
  for (const figure of sampledDelays) {
    registry.removeSingleMetric(`nodejs_eventloop_lag_${figure}_seconds`);
  }
  const active = {
    name: 'nodejs_eventloop_active_seconds_total',
    help: 'Time in which the event loop was not waiting',
    registers: [registry],
    collect(this: Counter) {
      this.reset();
      this.inc(performance.eventLoopUtilization().active / 1_000);
    },
  };
  new Counter(active);
}

function countLostLines(registry: Registry): void {
  const lost = {
    name: 'counterfoil_log_lines_lost_total',
    help: 'Lines of the log that could not be written',
    registers: [registry],
    collect(this: Counter) {
      this.reset();
      this.inc(lostLines());
    },
  };
  new Counter(lost);
}

/**
 * Makes the metrics of a process. `processMetrics` adds memory, CPU, garbage collection, event
 * loop and log figures; one object per process should have them.
 */
export function createMetrics({ processMetrics = true } = {}): Metrics {
  const registry = new Registry();
  if (processMetrics) {
    collectProcessMetrics(registry);
    countLostLines(registry);
  }
  const once = <Made>(name: string, make: () => Made): Made =>
    (registry.getSingleMetric(name) as Made | undefined) ?? make();
  const common = <Label extends string>({ name, help, labels = [] }: MetricDescription<Label>) => ({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
  });
  return {
    registry,
    counter: (description) => once(description.name, () => new Counter(common(description))),
    gauge: <Label extends string>({ collect, ...description }: GaugeDescription<Label>) => {
      const collected = collect && {
        collect(this: Gauge<Label>) {
          return collect(this);
        },
      };
      return once(description.name, () => new Gauge({ ...common(description), ...collected }));
    },
    histogram: ({ buckets = durationBuckets, ...description }) =>
      once(
        description.name,
        () => new Histogram({ ...common(description), buckets: [...buckets] }),
      ),
  };
}

import { OperatorError } from '@counterfoil/cli/settings';
import type { Sample } from './load/plan.ts';

/** A measured value that is not the time of an answer. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** The result of a scenario; one line of the results. */
export interface Result {
  readonly scenario: string;
  readonly title: string;
  /** Null where no clients put load on the service. */
  readonly clients: number | null;
  readonly samples: readonly Sample[];
  /** The number of answers of each kind. */
  readonly answers: Readonly<Record<string, number>>;
  readonly figures: readonly Figure[];
  /** Milliseconds of processor time per 1,000 entries, by process; null without a load. */
  readonly processorTime: Readonly<Record<string, number>> | null;
  /** The faults, in sentences; empty when exactly the acknowledged requests took effect. */
  readonly faults: readonly string[];
  /** The comparison behind that, in words. */
  readonly checked: string;
}

/** A result as lines of text. */
export function describe(result: Result): string[] {
  const clients = result.clients === null ? '' : `, ${result.clients} clients`;
  return [
    `${result.scenario} ${result.title}${clients}`,
    ...result.samples.map(describeSample),
    ...result.figures.map(({ name, value, unit }) => `  ${name}: ${shown(value)} ${unit}`),
    ...(result.processorTime === null ? [] : [describeProcessorTime(result.processorTime)]),
    ...describeAnswers(result.answers),
    ...(result.faults.length === 0
      ? [`  verdict: right; ${result.checked}`]
      : result.faults.map((fault) => `  verdict: WRONG; ${fault}`)),
  ];
}

/** Throws `OperatorError` with the scenarios of which a result is wrong. */
export function assertRight(results: readonly Result[]): void {
  const wrong = results.filter(({ faults }) => faults.length > 0);
  if (wrong.length === 0) return;
  const names = [...new Set(wrong.map(({ scenario }) => scenario))].join(', ');
  throw new OperatorError(`The verdict is WRONG: ${names}.`);
}

/** Prints all results, and throws `OperatorError` when one of them is wrong. */
export function conclude(results: readonly Result[], print: (line: string) => void): void {
  for (const result of results) describe(result).forEach(print);
  assertRight(results);
}

function describeSample({ name, latency, ...sample }: Sample): string {
  const entries =
    sample.entries > 0 && sample.entries !== sample.requests
      ? `${shown(sample.entriesPerSecond)} entries/s, `
      : '';
  const { p50, p95, p99, p999, maximum } = latency;
  const times = [p50, p95, p99, p999, maximum].map(shown).join(' / ');
  return `  ${name}: ${entries}${shown(sample.requestsPerSecond)} /s, p50 / p95 / p99 / p99.9 / max ${times} ms`;
}

const describeProcessorTime = (spent: Readonly<Record<string, number>>): string => {
  const parts = Object.entries(spent).map(([name, value]) => `${name} ${shown(value)}`);
  return `  processor time in ms per 1,000 entries: ${parts.join(', ')}`;
};

function describeAnswers(answers: Readonly<Record<string, number>>): string[] {
  const parts = Object.entries(answers).map(([name, count]) => `${name} ${count}`);
  return parts.length === 0 ? [] : [`  answers: ${parts.join(', ')}`];
}

/** Three significant digits; nobody believes more of a measurement. */
export const shown = (value: number): string => {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
};

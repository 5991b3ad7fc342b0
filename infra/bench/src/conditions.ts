import { cpus, loadavg } from 'node:os';
import { type FlushTime, flushTime } from './flush-time.ts';
import type { BenchOptions } from './options.ts';
import { shown } from './report.ts';

/** Everything that the figures depend on beside the code. */
export interface Conditions {
  readonly startedAt: string;
  /** Processors, Node and load of this machine. */
  readonly machine: string;
  /** Milliseconds until 4 KiB are on the disk. */
  readonly flush: FlushTime;
  readonly options: BenchOptions;
}

/** The conditions of a run that keeps its data in a folder. */
export const conditionsOf = (folder: string, options: BenchOptions): Conditions => ({
  startedAt: new Date().toISOString(),
  machine: machine(),
  flush: flushTime(folder),
  options,
});

/** The machine in one line; the load is the number of processes that wanted a processor lately. */
export const machine = (): string =>
  `${cpus().length} processors, ${cpus()[0]?.model ?? 'unknown'}; node ${process.version}; ` +
  `load ${shown(loadavg()[0] ?? 0)}`;

/** Conditions as lines for people. */
export const describeConditions = ({ machine, flush, options }: Conditions): readonly string[] => [
  machine,
  `flush of 4 KiB: p50 ${shown(flush.p50)} ms, p99 ${shown(flush.p99)} ms`,
  `${options.clients.join(', ')} clients, ${options.seconds} s each` +
    (options.warmUpSeconds === null ? '' : ` after ${options.warmUpSeconds} s`) +
    `, ${options.wallets} wallets, seed ${options.seed}`,
];

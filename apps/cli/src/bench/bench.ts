import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { openEventStore } from '@counterfoil/engine';
import { recordedPid } from '@counterfoil/local';
import { type Demo, OperatorError, type Settings } from '../settings.ts';
import { makeWallet, makeWallets } from './api.ts';
import { diskSpace } from './disk-space.ts';
import { type FlushTime, flushTime } from './flush-time.ts';
import { withFreshInstallation } from './fresh-installation.ts';
import { runLoad } from './load/run-load.ts';
import type { BenchOptions } from './options.ts';
import { processorTime } from './processor-time.ts';
import { describe, type Result, shown } from './report.ts';
import type { ProcessName, Scenario, World } from './scenario.ts';
import { scenarios } from './scenarios/index.ts';

type Print = (line: string) => void;

/** What the figures depend on beside the code. */
interface Conditions {
  readonly startedAt: string;
  readonly processors: number;
  readonly processor: string;
  readonly node: string;
  /** Processes that wanted a processor in the minute before the start. */
  readonly load: number;
  /** Milliseconds until 4 KiB are on the disk. */
  readonly flush: FlushTime;
  readonly options: BenchOptions;
}

const plentyOfCredits = '1000000000';

/**
 * `counterfoil bench`: measures a fresh installation, everything durable and on this machine, and
 * checks afterwards that what was acknowledged is what happened. Throws `OperatorError` when it is not.
 */
export async function bench(
  settings: Settings,
  options: BenchOptions,
  print: Print,
): Promise<void> {
  const chosen = choose(options.scenarios);
  await withFreshInstallation(settings, async (demo, folder) => {
    const conditions = conditionsOf(folder, options);
    describeConditions(conditions).forEach(print);
    const results = await runAll(chosen, folder, demo, options, print);
    if (options.json !== null) {
      writeFileSync(options.json, `${JSON.stringify({ conditions, results }, null, 2)}\n`);
    }
    assertRight(results);
  });
}

/** The scenarios of these ids, all for null. Throws `OperatorError` for an id that there is not. */
function choose(ids: readonly string[] | null): readonly Scenario[] {
  if (ids === null) return scenarios;
  const wanted = ids.map((id) => id.toUpperCase());
  const unknown = wanted.find((id) => !scenarios.some((scenario) => scenario.id === id));
  if (unknown === undefined) return scenarios.filter(({ id }) => wanted.includes(id));
  const known = scenarios.map(({ id }) => id).join(', ');
  throw new OperatorError(`There is no scenario ${unknown}. There are ${known}.`);
}

async function runAll(
  chosen: readonly Scenario[],
  folder: string,
  demo: Demo,
  options: BenchOptions,
  print: Print,
): Promise<readonly Result[]> {
  const store = openEventStore({ url: demo.eventstore_url });
  const results: Result[] = [];
  let wallets: Promise<readonly string[]> | null = null;
  const world: World = {
    store,
    demo,
    options,
    results,
    print,
    run: runLoad,
    wallets: () => {
      wallets ??= makeWallets(demo, options.wallets, plentyOfCredits);
      return wallets;
    },
    newWallet: (name, credits) => makeWallet(demo, name, credits),
    processorTime: () => processorTime(folder),
    diskSpace: () => diskSpace(folder, demo.database_url),
    pidOf: (name) => recordedPid(recordOf(folder, name)),
  };
  try {
    for (const scenario of chosen) {
      const found = await scenario.run(world);
      results.push(...found);
      for (const result of found) describe(result).forEach(print);
    }
    return results;
  } finally {
    await store.close();
  }
}

const applications: readonly ProcessName[] = ['api', 'projector', 'webhooks'];

/** Where the local stack writes down which process it runs. */
const recordOf = (folder: string, name: ProcessName): string =>
  applications.includes(name)
    ? join(folder, 'processes', `${name}.json`)
    : join(folder, name, 'process.json');

const conditionsOf = (folder: string, options: BenchOptions): Conditions => ({
  startedAt: new Date().toISOString(),
  processors: cpus().length,
  processor: cpus()[0]?.model ?? 'unknown',
  node: process.version,
  load: loadavg()[0] ?? 0,
  flush: flushTime(folder),
  options,
});

const describeConditions = (conditions: Conditions): readonly string[] => {
  const { processors, processor, node, load, flush, options } = conditions;
  const clients = options.clients.join(', ');
  return [
    `${processors} processors, ${processor}; node ${node}; load before ${shown(load)}`,
    `flush of 4 KiB: p50 ${shown(flush.p50)} ms, p99 ${shown(flush.p99)} ms`,
    `${clients} clients, ${options.seconds} s each, ${options.wallets} wallets, seed ${options.seed}`,
  ];
};

function assertRight(results: readonly Result[]): void {
  const wrong = results.filter(({ faults }) => faults.length > 0);
  if (wrong.length === 0) return;
  const names = [...new Set(wrong.map(({ scenario }) => scenario))].join(', ');
  throw new OperatorError(`What was acknowledged is not what happened: ${names}.`);
}

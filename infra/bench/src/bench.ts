import { writeFileSync } from 'node:fs';
import { type Demo, OperatorError, type Settings } from '@counterfoil/cli/settings';
import { openEventStore } from '@counterfoil/engine';
import { runningProcesses } from '@counterfoil/local';
import { makeWallet, makeWallets } from './api.ts';
import { conditionsOf, describeConditions } from './conditions.ts';
import { diskSpace } from './disk-space.ts';
import { withFreshInstallation } from './installation.ts';
import { runLoad } from './load/run-load.ts';
import type { BenchOptions } from './options.ts';
import { processorTime } from './processor-time.ts';
import { prepareProfiles } from './profile/profiles.ts';
import { assertRight, describe, type Result } from './report.ts';
import type { Scenario, World } from './scenario.ts';
import { scenarios } from './scenarios/index.ts';

type Print = (line: string) => void;

const plentyOfCredits = '1000000000';

/**
 * Measures a fresh installation, everything durable and on this machine, and
 * checks afterwards that exactly the acknowledged requests took effect. Throws `OperatorError` otherwise.
 */
export async function bench(
  settings: Settings,
  options: BenchOptions,
  print: Print,
): Promise<void> {
  const chosen = choose(options.scenarios);
  const profilesOf = options.profile === null ? null : prepareProfiles(options.profile);
  const { apiProcesses } = options;
  const work = async (demo: Demo, folder: string, apiUrls: readonly string[]): Promise<void> => {
    const conditions = conditionsOf(folder, options);
    describeConditions(conditions).forEach(print);
    const results = await runAll(chosen, {
      folder,
      demo,
      apiUrls,
      options,
      print,
      profiles: profilesOf?.(folder) ?? null,
    });
    if (options.json !== null) {
      writeFileSync(options.json, `${JSON.stringify({ conditions, results }, null, 2)}\n`);
    }
    assertRight(results);
  };
  await withFreshInstallation(settings, work, { apiProcesses });
}

/** The scenarios of these ids, all for null. Throws `OperatorError` for an unknown id. */
function choose(ids: readonly string[] | null): readonly Scenario[] {
  if (ids === null) return scenarios;
  const wanted = ids.map((id) => id.toUpperCase());
  const unknown = wanted.find((id) => !scenarios.some((scenario) => scenario.id === id));
  if (unknown === undefined) return scenarios.filter(({ id }) => wanted.includes(id));
  const known = scenarios.map(({ id }) => id).join(', ');
  throw new OperatorError(`There is no scenario ${unknown}. There are ${known}.`);
}

/** A run of scenarios against one installation. */
interface Run extends Pick<World, 'demo' | 'apiUrls' | 'options' | 'print' | 'profiles'> {
  readonly folder: string;
}

async function runAll(
  chosen: readonly Scenario[],
  { folder, demo, apiUrls, options, print, profiles }: Run,
): Promise<readonly Result[]> {
  const store = openEventStore({ url: demo.eventstore_url });
  const results: Result[] = [];
  let wallets: Promise<readonly string[]> | null = null;
  const world: World = {
    store,
    demo,
    apiUrls,
    options,
    results,
    print,
    run: (plan) => runLoad(plan, profiles?.generatorArguments),
    profiles,
    wallets: () => {
      wallets ??= makeWallets(demo, options.wallets, plentyOfCredits, apiUrls);
      return wallets;
    },
    newWallet: (name, credits) => makeWallet(demo, name, credits),
    processorTime: () => processorTime(folder),
    diskSpace: () => diskSpace(folder, demo.database_url),
    pidOf: (name) => runningProcesses(folder).get(name),
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

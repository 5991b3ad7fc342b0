import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { demoKeyOf } from '@counterfoil/cli/settings';
import type { LoadResult, Part } from './load/plan.ts';
import { exactPostgresWork, postgresWork, workPerEntry } from './postgres-work.ts';
import { type ProcessorTime, spentPerThousand } from './processor-time.ts';
import { describeLog, endOfLog, logSince } from './profile/postgres-log.ts';
import type { Figure, Result } from './report.ts';
import type { World } from './scenario.ts';
import { sharedBetween, sharing } from './sharing.ts';
import { judge, untilVisible } from './verdict.ts';

/** A load with its name. */
export interface Measurement {
  readonly scenario: string;
  readonly title: string;
  readonly clients: number;
  readonly parts: readonly Part[];
  /** Entries that one write makes. */
  readonly entriesPerKey?: number;
  /** Runs beside the load; its result is added to the figures. */
  readonly beside?: (load: Promise<unknown>) => Promise<readonly Figure[]>;
}

/** Share of the measured seconds that is added in front of them unless the options say how many. */
const warmUpShare = 0.2;
let loads = 0;

/** Runs a load, waits until all of it is visible, and compares the answers that clients got with the log. */
export async function measure(world: World, measurement: Measurement): Promise<Result> {
  const { demo, options, store } = world;
  const { scenario, title, clients, parts, entriesPerKey = 1 } = measurement;
  await untilVisible(store, demo);
  loads += 1;
  const keys = `bench-${scenario}-${loads}`;
  const workOf = options.exactCounts ? exactPostgresWork : postgresWork;
  const after = await store.head();
  const before = {
    space: await world.diskSpace(),
    work: await workOf(demo.database_url),
    shared: await sharing(world.apiUrls),
    time: world.processorTime(),
  };
  const name = `${scenario}-${clients}-${loads}`;
  const logPlace = world.profiles ? await endOfLog(demo.database_url) : null;
  const recording = world.profiles?.start(name);
  const running = world.run({
    baseUrls: world.apiUrls,
    apiKey: demoKeyOf(demo),
    keys,
    seed: options.seed,
    warmUpSeconds: options.warmUpSeconds ?? options.seconds * warmUpShare,
    seconds: options.seconds,
    parts,
  });
  const [load, added] = await Promise.all([running, measurement.beside?.(running) ?? []]);
  const answeredAt = performance.now();
  await untilVisible(store, demo);
  const behind = performance.now() - answeredAt;
  const spent = spentPerThousand(before.time, world.processorTime(), load.entries);
  await recording?.end(load.entries);
  if (world.profiles && logPlace) {
    const causes = await logSince(demo.database_url, logPlace);
    const file = join(world.profiles.folder, `${name}-postgres-log.txt`);
    writeFileSync(file, describeLog(name, causes, load.entries));
  }
  const work = await workOf(demo.database_url);
  const space = await world.diskSpace();
  const perEntry = (bytes: number): number => bytes / Math.max(1, load.entries);
  const verdict = await judge(world, after, { keys, outcomes: load.outcomes, entriesPerKey });
  return {
    scenario,
    title,
    clients,
    samples: load.samples,
    answers: load.answers,
    figures: [
      { name: 'read model complete after the last answer', value: behind, unit: 'ms' },
      {
        name: 'event store',
        value: perEntry(space.store - before.space.store),
        unit: 'bytes per entry',
      },
      {
        name: 'read models',
        value: perEntry(space.postgres - before.space.postgres),
        unit: 'bytes per entry',
      },
      ...workPerEntry(before.work, work, load.entries),
      ...sharedBetween(before.shared, await sharing(world.apiUrls)),
      ...added,
    ],
    processorTime: withGenerator(spent, load),
    faults: [...verdict.faults, ...wrongMarks(load)],
    checked: verdict.checked,
  };
}

const withGenerator = (spent: ProcessorTime, load: LoadResult): ProcessorTime => ({
  ...spent,
  'load generator': (load.processorSeconds * 1_000_000) / Math.max(1, load.entries),
});

const wrongMarks = ({ wronglyMarked }: LoadResult): string[] =>
  wronglyMarked === 0 ? [] : [`${wronglyMarked} answers do not say rightly whether they repeat`];

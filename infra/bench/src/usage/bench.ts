import { type Demo, demoKeyOf, type Settings } from '@counterfoil/cli/settings';
import { api } from '../api.ts';
import { machine } from '../conditions.ts';
import { diskSpace } from '../disk-space.ts';
import { inProcess } from '../in-process.ts';
import { withFreshInstallation } from '../installation.ts';
import { postgresWork } from '../postgres-work.ts';
import { processorTime, spentPerThousand } from '../processor-time.ts';
import { prepareProfiles } from '../profile/profiles.ts';
import { conclude, type Figure, type Result } from '../report.ts';
import { meteredSum, meters } from './events.ts';
import type { UsageLoad, UsagePlan } from './plan.ts';
import { UsageTables } from './tables.ts';

export interface UsageBenchOptions {
  /** Measured seconds of each of the two loads; a tenth is added in front to warm up. */
  readonly seconds: number;
  /** Clients that send bulks, and those that send single events. */
  readonly clients: number;
  readonly singleClients: number;
  /** False to record events that nothing sums up. */
  readonly meters: boolean;
  /** Folder for processor profiles; null: none. */
  readonly profile: string | null;
}

const defaults: UsageBenchOptions = {
  seconds: 60,
  clients: 4,
  singleClients: 64,
  meters: true,
  profile: null,
};

const eventsOfBulk = 1_000;
const warmUpShare = 0.1;
const program = new URL('./generator-process.ts', import.meta.url);

/**
 * `bench usage`: measures the recording of usage in a fresh installation, senders and all on this machine: first bulks
 * of 1,000 events, then single events. Then every acknowledged event must be in the tables once.
 *
 * @throws {OperatorError} when one is not, or a request was refused
 */
export async function benchUsage(
  settings: Settings,
  given: Partial<UsageBenchOptions>,
  print: (line: string) => void,
): Promise<void> {
  const options = { ...defaults, ...given };
  const profilesOf = options.profile === null ? null : prepareProfiles(options.profile);
  await withFreshInstallation(settings, async (demo, folder) => {
    const tables = new UsageTables(demo.database_url);
    await tables.connect();
    try {
      await tables.untilAt(0n);
      const sum = options.meters ? await meteredIn(demo) : null;
      const world = { demo, folder, tables, sum, options, profiles: profilesOf?.(folder) ?? null };
      print(`before: ${machine()}`);
      const results = [
        await measure(world, { ids: 'bulk', clients: options.clients, events: eventsOfBulk }),
        await measure(world, { ids: 'single', clients: options.singleClients, events: 1 }),
      ];
      print(`after: ${machine()}`);
      conclude(results, print);
    } finally {
      await tables.close();
    }
  });
}

/** Makes the meters; gives a way to ask the first one for its sum over all that was sent. */
async function meteredIn(demo: Demo): Promise<() => Promise<number>> {
  const ids: string[] = [];
  for (const meter of meters) {
    const body = { name: `Bench ${meter.event_name}`, ...meter };
    ids.push((await api<{ readonly id: string }>(demo, 'POST', '/meters', body)).id);
  }
  return async () => {
    const question = { meter_id: ids[0] };
    const answer = await api<{ readonly total_value: string }>(
      demo,
      'POST',
      '/events/usage/meter',
      question,
    );
    return +answer.total_value;
  };
}

interface World {
  /** The sum that the meter of the first name tells now; null without meters. */
  readonly sum: (() => Promise<number>) | null;
  readonly demo: Demo;
  readonly folder: string;
  readonly tables: UsageTables;
  readonly options: UsageBenchOptions;
  readonly profiles: ReturnType<ReturnType<typeof prepareProfiles>> | null;
}

async function measure(
  world: World,
  load: Pick<UsagePlan, 'ids' | 'clients' | 'events'>,
): Promise<Result> {
  const { demo, folder, tables, options, profiles } = world;
  const { seconds } = options;
  const plan: UsagePlan = {
    ...load,
    baseUrl: demo.base_url,
    apiKey: demoKeyOf(demo),
    warmUpSeconds: seconds * warmUpShare,
    seconds,
    repeatedEvery: load.events === 1 ? 0 : 50,
    eventsPerSecond: null,
  };
  const before = await state(world);
  const recording = profiles?.start(`usage-${load.ids}`);
  const told = await inProcess<UsagePlan, UsageLoad>(program, plan, profiles?.generatorArguments);
  const behind = await tables.untilAt(BigInt(told.lastPosition));
  const spent = spentPerThousand(before.time, processorTime(folder), told.requests * load.events);
  await recording?.end(told.requests * load.events);
  const after = await state(world);
  const events = told.requests * load.events;
  const perEvent = (bytes: number): number => bytes / Math.max(1, events);
  const wanted = before.sum + (world.sum === null ? 0 : meteredSum(told.requests, load.events));
  const faults = [
    ...(after.sum === wanted ? [] : [`a meter tells ${after.sum} instead of ${wanted}`]),
    ...(told.refused === 0 ? [] : [`${told.refused} requests were refused`]),
    ...(await tables.faultsIn(plan, told)),
  ];
  return {
    scenario: 'USAGE',
    title: load.events === 1 ? 'single events' : `bulks of ${load.events}`,
    clients: load.clients,
    samples: told.samples,
    answers: told.answers,
    figures: [
      { name: 'read side complete after the last answer', value: behind, unit: 'ms' },
      {
        name: 'event store',
        value: perEvent(after.space.store - before.space.store),
        unit: 'bytes per event',
      },
      ...growth(before.sizes, after.sizes, events),
      {
        name: "PostgreSQL's log",
        value: perEvent(after.work.log - before.work.log),
        unit: 'bytes per event',
      },
    ],
    // Milliseconds per 1,000 events are microseconds per event.
    processorTime: { ...spent, senders: (told.processorSeconds * 1_000_000) / Math.max(1, events) },
    faults,
    checked: `${events.toLocaleString('en-US')} events acknowledged and in the tables once each, ${told.repeated.toLocaleString('en-US')} repetitions`,
  };
}

const state = async ({ demo, folder, tables, sum }: World) => ({
  sum: (await sum?.()) ?? 0,
  sizes: await tables.sizes(),
  space: await diskSpace(folder, demo.database_url),
  work: await postgresWork(demo.database_url),
  time: processorTime(folder),
});

type Sizes = ReadonlyMap<string, number>;

/** The bytes by which tables have grown; those that did not are left out. */
const growth = (before: Sizes, after: Sizes, events: number): readonly Figure[] =>
  [...after].flatMap(([name, bytes]) => {
    const value = (bytes - (before.get(name) ?? 0)) / Math.max(1, events);
    return value >= 1 ? [{ name: `table ${name}`, value, unit: 'bytes per event' }] : [];
  });

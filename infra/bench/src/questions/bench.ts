import { type Demo, demoKeyOf, type Settings } from '@counterfoil/cli/settings';
import { answered, api } from '../api.ts';
import { machine } from '../conditions.ts';
import { inProcess } from '../in-process.ts';
import { withFreshInstallation } from '../installation.ts';
import { processorTime, spentPerThousand } from '../processor-time.ts';
import { conclude, type Result } from '../report.ts';
import type { UsageLoad, UsagePlan } from '../usage/plan.ts';
import { UsageTables } from '../usage/tables.ts';
import { type Asked, monthByProperty, monthInGroups, monthOfOne, soFarOfSome } from './asked.ts';
import type { QuestionLoad, QuestionPlan } from './plan.ts';
import { type StoredUsage, storeUsage } from './stored-usage.ts';

export interface QuestionBenchOptions {
  /** Events that are stored, a tenth of them of one customer. */
  readonly events: number;
  readonly customers: number;
  /** Clients that ask for a month, one question after the other. */
  readonly clients: number;
  /** Questions a second about usage so far. */
  readonly perSecond: number;
  /** Events a second that are recorded while they are asked once more. */
  readonly beside: number;
  /** Measured seconds of each load; a fifth is added in front to warm up. */
  readonly seconds: number;
}

const defaults: QuestionBenchOptions = {
  events: 10_000_000,
  customers: 1_000,
  clients: 16,
  perSecond: 500,
  beside: 5_000,
  seconds: 20,
};

const days = 28;
const warmUpShare = 0.2;
const dayMilliseconds = 86_400_000;
const program = new URL('./generator-process.ts', import.meta.url);
const sender = new URL('../usage/generator-process.ts', import.meta.url);

/**
 * `bench questions`: stores usage in a fresh installation and measures questions about it: a month of a customer who has a
 * tenth of all events, a month by a property that nothing is kept of, and usage so far of any customer, alone and beside the
 * recording of events. Every answer must have the right figure, and every event be there once.
 *
 * @throws {OperatorError} when one has not
 */
export async function benchQuestions(
  settings: Settings,
  given: Partial<QuestionBenchOptions>,
  print: (line: string) => void,
): Promise<void> {
  const options = { ...defaults, ...given };
  const work = async (demo: Demo, folder: string, apiUrls: readonly string[]): Promise<void> => {
    const [asked = demo.base_url, recording = asked] = apiUrls;
    const tables = new UsageTables(demo.database_url);
    await tables.connect();
    try {
      const results = await measureAll({ demo, folder, options, asked, recording, tables }, print);
      conclude(results, print);
    } finally {
      await tables.close();
    }
  };
  // Events that come meanwhile go to a process of their own.
  await withFreshInstallation(settings, work, { apiProcesses: 2 });
}

async function measureAll(
  measured: Measured,
  print: (line: string) => void,
): Promise<readonly Result[]> {
  const { demo, options } = measured;
  const { clients, perSecond, beside } = options;
  const stored = storedOf(options);
  const meterId = await prepare(demo, stored);
  await storeUsage(demo.database_url, stored, print);
  print(`before: ${machine()}`);
  const month = monthOfOne(stored, meterId);
  const soFar = soFarOfSome(stored, meterId);
  const byProperty = monthByProperty(stored, [0]);
  const together = { kind: 'closed', clients } as const;
  const results = [
    await measure(measured, month, together),
    await measure(measured, soFar, { kind: 'open', perSecond }),
    await measure(measured, soFar, { kind: 'open', perSecond }, beside),
    await measure(measured, monthByProperty(stored, [1, 2, 3]), { kind: 'closed', clients: 1 }),
  ];
  await keepSums(measured, byProperty, print);
  results.push(await measure(measured, byProperty, together));
  results.push(await measure(measured, monthInGroups(stored, meterId), together));
  print(`after: ${machine()}`);
  return results;
}

/** Asks a question for the first time, and waits until sums are kept for the next one. */
async function keepSums(
  { asked, demo, tables }: Measured,
  { path, name, questions }: Asked,
  print: (line: string) => void,
): Promise<void> {
  const startedAt = performance.now();
  const body: unknown = JSON.parse(questions[0]?.body ?? 'null');
  await api({ ...demo, base_url: asked }, 'POST', path.slice('/v1'.length), body);
  const took = Math.round(performance.now() - startedAt);
  const kept = await tables.untilSumsAreKept();
  print(
    `${name}: the first took ${took} ms, and sums were kept ${Math.round(kept / 1_000)} s later`,
  );
}

/** Whole days up to the last midnight. */
function storedOf({ events, customers }: QuestionBenchOptions): StoredUsage {
  const midnight = Math.floor(Date.now() / dayMilliseconds) * dayMilliseconds;
  return {
    eventName: 'stored',
    externalIds: Array.from({ length: customers }, (_, number) => `stored-${number}`),
    events,
    from: new Date(midnight - days * dayMilliseconds),
    days,
  };
}

/** Makes the meter and the customers, and records an event of each in each month, which counts nothing. */
async function prepare(demo: Demo, { eventName, externalIds, from }: StoredUsage): Promise<string> {
  const { id } = await api<{ readonly id: string }>(demo, 'POST', '/meters', {
    name: 'Stored',
    event_name: eventName,
    aggregation: { type: 'SUM', field: 'count' },
  });
  for (const external_id of externalIds) {
    await api(demo, 'POST', '/customers', { external_id, name: external_id });
  }
  const events = externalIds.flatMap((external_customer_id) =>
    [from, new Date()].map((at, index) => ({
      event_name: eventName,
      external_customer_id,
      event_id: `first-${external_customer_id}-${index}`,
      timestamp: at.toISOString(),
      properties: { count: 0 },
    })),
  );
  let recorded = 0n;
  for (let first = 0; first < events.length; first += 1_000) {
    const bulk = { events: events.slice(first, first + 1_000) };
    recorded = (await answered(demo, 'POST', '/events/bulk', bulk)).position;
  }
  const tables = new UsageTables(demo.database_url);
  await tables.connect();
  await tables.untilAt(recorded);
  await tables.close();
  return id;
}

interface Measured {
  readonly demo: Demo;
  readonly folder: string;
  readonly options: QuestionBenchOptions;
  /** The address of the process that is asked, and of the one that takes events beside it. */
  readonly asked: string;
  readonly recording: string;
  readonly tables: UsageTables;
}

/** Events of a request that is sent while questions are asked. */
const eventsOfBulk = 100;
const senders = 4;

/** Has questions asked, beside the recording of so many events a second. */
async function measure(
  { demo, folder, options, asked: baseUrl, recording, tables }: Measured,
  asked: Asked,
  pace: QuestionPlan['pace'],
  eventsPerSecond = 0,
): Promise<Result> {
  const { seconds, events } = options;
  const load = { apiKey: demoKeyOf(demo), warmUpSeconds: seconds * warmUpShare, seconds };
  const sent: UsagePlan = {
    ...{ ...load, baseUrl: recording, ids: 'beside', eventsPerSecond, repeatedEvery: 0 },
    ...{ clients: senders, events: eventsOfBulk },
  };
  const before = processorTime(folder);
  const [told, recorded] = await Promise.all([
    inProcess<QuestionPlan, QuestionLoad>(program, { ...asked, ...load, baseUrl, pace }),
    eventsPerSecond === 0 ? null : inProcess<UsagePlan, UsageLoad>(sender, sent),
  ]);
  const spent = spentPerThousand(before, processorTime(folder), told.asked);
  if (recorded) await tables.untilAt(BigInt(recorded.lastPosition));
  const faults = [
    ...(told.wrong === 0 ? [] : [`${told.wrong} answers have another figure`]),
    ...(recorded ? await tables.faultsIn(sent, recorded) : []),
  ];
  const stored = `${events.toLocaleString('en-US')} events stored`;
  const beside = `, ${eventsPerSecond.toLocaleString('en-US')} events a second beside`;
  return {
    scenario: 'QUESTIONS',
    title: `${asked.name}, ${stored}${eventsPerSecond === 0 ? '' : beside}`,
    clients: pace.kind === 'closed' ? pace.clients : null,
    samples: [...told.samples, ...(recorded?.samples ?? [])],
    answers: told.answers,
    figures: [],
    processorTime: spent,
    faults,
    checked: `${told.asked.toLocaleString('en-US')} answers with the right figure`,
  };
}

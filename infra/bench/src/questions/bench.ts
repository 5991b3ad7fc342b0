import { type Demo, demoKeyOf, OperatorError, type Settings } from '@counterfoil/cli/settings';
import { machine } from '../conditions.ts';
import { inProcess } from '../in-process.ts';
import { withFreshInstallation } from '../installation.ts';
import { processorTime, spentPerThousand } from '../processor-time.ts';
import { describe, type Result } from '../report.ts';
import { UsageTables } from '../usage/tables.ts';
import type { Question, QuestionLoad, QuestionPlan } from './plan.ts';
import { type StoredUsage, storedSum, storeUsage } from './stored-usage.ts';

export interface QuestionBenchOptions {
  /** Events that are stored, a tenth of them of one customer. */
  readonly events: number;
  readonly customers: number;
  /** Clients that ask for a month, one question after the other. */
  readonly clients: number;
  /** Questions a second about usage so far. */
  readonly perSecond: number;
  /** Measured seconds of each load; a fifth is added in front to warm up. */
  readonly seconds: number;
}

const defaults: QuestionBenchOptions = {
  events: 10_000_000,
  customers: 1_000,
  clients: 16,
  perSecond: 500,
  seconds: 20,
};

const days = 28;
const warmUpShare = 0.2;
const dayMilliseconds = 86_400_000;
const program = new URL('./generator-process.ts', import.meta.url);

/**
 * `bench questions`: stores usage in a fresh installation and measures questions about it: a month of a customer who has a
 * tenth of all events, and usage so far of any customer. Every answer must have the right figure.
 *
 * @throws {OperatorError} when one has not
 */
export async function benchQuestions(
  settings: Settings,
  given: Partial<QuestionBenchOptions>,
  print: (line: string) => void,
): Promise<void> {
  const options = { ...defaults, ...given };
  await withFreshInstallation(settings, async (demo, folder) => {
    const stored = storedOf(options);
    const meterId = await prepare(demo, stored);
    await storeUsage(demo.database_url, stored, print);
    print(`before: ${machine()}`);
    const measured = { demo, folder, options };
    const results = [
      await measure(measured, monthOfOne(stored, meterId), {
        kind: 'closed',
        clients: options.clients,
      }),
      await measure(measured, soFarOfAll(stored, meterId), {
        kind: 'open',
        perSecond: options.perSecond,
      }),
    ];
    print(`after: ${machine()}`);
    for (const result of results) describe(result).forEach(print);
    if (results.some(({ faults }) => faults.length > 0)) {
      throw new OperatorError('The verdict is WRONG.');
    }
  });
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
  const { id } = await post(demo, '/meters', {
    name: 'Stored',
    event_name: eventName,
    aggregation: { type: 'SUM', field: 'count' },
  });
  for (const external_id of externalIds) {
    await post(demo, '/customers', { external_id, name: external_id });
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
  let position = '0';
  for (let first = 0; first < events.length; first += 1_000) {
    const bulk = { events: events.slice(first, first + 1_000) };
    position = (await post(demo, '/events/bulk', bulk)).position;
  }
  const tables = new UsageTables(demo.database_url);
  await tables.connect();
  await tables.untilAt(BigInt(position));
  await tables.close();
  return id;
}

async function post(
  demo: Demo,
  path: string,
  body: object,
): Promise<{ readonly id: string; readonly position: string }> {
  const answer = await fetch(`${demo.base_url}/v1${path}`, {
    method: 'POST',
    headers: { 'x-api-key': demoKeyOf(demo), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new OperatorError(`${path}: ${await answer.text()}`);
  const { id = '' } = (await answer.json()) as { readonly id?: string };
  return { id, position: answer.headers.get('Counterfoil-Position') ?? '0' };
}

type Asked = Pick<QuestionPlan, 'name' | 'path' | 'questions'>;

/** Begins and ends within an hour, so that both edges are counted event by event. */
const untidy = 1_234_567;

function monthOfOne(stored: StoredUsage, meter_id: string): Asked {
  const { externalIds, from } = stored;
  const body = {
    meter_id,
    external_customer_id: externalIds[0],
    start_time: new Date(from.getTime() - untidy),
    end_time: new Date(from.getTime() + days * dayMilliseconds + untidy),
  };
  const question = { body: JSON.stringify(body), total: String(storedSum(0, stored)) };
  return {
    name: 'a month of a customer',
    path: '/v1/events/usage/meter',
    questions: [question],
  };
}

const askedCustomers = 20;

function soFarOfAll(stored: StoredUsage, meter_id: string): Asked {
  const questions = stored.externalIds
    .slice(0, askedCustomers)
    .map((external_customer_id, number): Question => {
      const body = { meter_id, external_customer_id, reset_period: 'NEVER' };
      return { body: JSON.stringify(body), total: String(storedSum(number, stored)) };
    });
  return { name: 'usage so far', path: '/v1/usage/current', questions };
}

async function measure(
  {
    demo,
    folder,
    options,
  }: { readonly demo: Demo; readonly folder: string; readonly options: QuestionBenchOptions },
  asked: Asked,
  pace: QuestionPlan['pace'],
): Promise<Result> {
  const { seconds, events } = options;
  const before = processorTime(folder);
  const told = await inProcess<QuestionPlan, QuestionLoad>(program, {
    ...asked,
    baseUrl: demo.base_url,
    apiKey: demoKeyOf(demo),
    pace,
    warmUpSeconds: seconds * warmUpShare,
    seconds,
  });
  return {
    scenario: 'QUESTIONS',
    title: `${asked.name}, ${events.toLocaleString('en-US')} events stored`,
    clients: pace.kind === 'closed' ? pace.clients : null,
    samples: told.samples,
    answers: told.answers,
    figures: [],
    processorTime: spentPerThousand(before, processorTime(folder), told.asked),
    faults: told.wrong === 0 ? [] : [`${told.wrong} answers have another figure`],
    checked: `${told.asked.toLocaleString('en-US')} answers with the right figure`,
  };
}

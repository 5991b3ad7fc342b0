import type { Demo, Settings } from '@counterfoil/cli/settings';
import { api, inParallel } from '../api.ts';
import { machine } from '../conditions.ts';
import { withFreshInstallation } from '../installation.ts';
import { processorTime, spentPerThousand } from '../processor-time.ts';
import { prepareProfiles } from '../profile/profiles.ts';
import { conclude, type Result } from '../report.ts';
import { type Advanced, advance, makeSandbox } from '../sandbox.ts';

export interface RollOverBenchOptions {
  /** Subscriptions whose period ends at the same instant. */
  readonly subscriptions: number;
  /** Folder for processor profiles; null: none. */
  readonly profile: string | null;
}

const defaults: RollOverBenchOptions = { subscriptions: 10_000, profile: null };

const clients = 32;
const subscriptionsPerCustomer = 10;
const pageMaximum = 1_000;

const start = '2027-01-01T00:00:00.000Z';
/** The opening invoices are overdue by then, and nobody tries to collect them any more. */
const quiet = '2027-01-24T12:00:00.000Z';
const noticed = '2027-01-31T12:00:00.000Z';
const boundary = '2027-02-01T00:00:00.000Z';
const nextBoundary = '2027-03-01T00:00:00.000Z';

/**
 * `bench roll-over`: the periods of many subscriptions end at one instant of a test clock. Each must be closed and followed
 * by the next one, once.
 *
 * @throws {OperatorError} when one is not
 */
export async function benchRollOver(
  settings: Settings,
  given: Partial<RollOverBenchOptions>,
  print: (line: string) => void,
): Promise<void> {
  const { subscriptions, profile } = { ...defaults, ...given };
  const profilesOf = profile === null ? null : prepareProfiles(profile);
  await withFreshInstallation(settings, async (demo, folder) => {
    const sandbox = await makeSandbox(demo, 'Roll-over', start);
    const profiles = profilesOf?.(folder) ?? null;
    print(`before: ${machine()}`);
    const measured = async (
      title: string,
      work: () => Promise<Advanced | null>,
      check: () => Promise<readonly string[]>,
    ): Promise<Result> => {
      const recording = profiles?.start(title.replaceAll(/\W+/g, '-'));
      const before = processorTime(folder);
      const startedAt = performance.now();
      const advanced = await work();
      const seconds = (performance.now() - startedAt) / 1_000;
      const spent = spentPerThousand(before, processorTime(folder), subscriptions);
      await recording?.end(subscriptions);
      const faults = [
        ...(await check()),
        ...(advanced ? wrongEffects(advanced, subscriptions) : []),
      ];
      return resultOf(title, { seconds, subscriptions, spent, faults });
    };
    const created = await measured(
      'subscriptions are created',
      async () => {
        await subscribe(sandbox, subscriptions);
        return null;
      },
      () => wrongPeriods(sandbox, subscriptions, start),
    );
    await advance(sandbox, quiet);
    const results = [
      created,
      await measured(
        'their renewal is announced',
        () => advance(sandbox, noticed),
        () => wrongPeriods(sandbox, subscriptions, start),
      ),
      await measured(
        'their period ends, at one instant',
        () => advance(sandbox, boundary),
        () => wrongPeriods(sandbox, subscriptions, boundary),
      ),
    ];
    print(`after: ${machine()}`);
    conclude(results, print);
  });
}

/** A plan with a fee in advance and usage in arrears, and so many subscriptions to it. */
async function subscribe(demo: Demo, count: number): Promise<void> {
  const created = async (path: string, body: object): Promise<string> =>
    (await api<{ id: string }>(demo, 'POST', path, body)).id;
  const meter = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } };
  const meter_id = await created('/meters', meter);
  const plan_id = await created('/plans', { name: 'Rolling' });
  const price = {
    ...{ entity_type: 'PLAN', entity_id: plan_id, billing_model: 'FLAT_FEE', currency: 'usd' },
    billing_period: 'MONTHLY',
  };
  await created('/prices', { ...price, type: 'FIXED', invoice_cadence: 'ADVANCE', amount: '30' });
  const perCall = { type: 'USAGE', invoice_cadence: 'ARREAR', amount: '0.01', meter_id };
  await created('/prices', { ...price, ...perCall });
  const customers = Math.ceil(count / subscriptionsPerCustomer);
  await inParallel(clients, customers, (index) =>
    created('/customers', { external_id: `rolling-${index}`, name: 'Rolling' }),
  );
  await inParallel(clients, count, (index) =>
    created('/subscriptions', {
      external_customer_id: `rolling-${index % customers}`,
      ...{ plan_id, currency: 'usd', billing_period: 'MONTHLY' },
    }),
  );
}

interface SubscriptionPage {
  readonly items: readonly {
    readonly current_period_start?: string;
    readonly current_period_end?: string;
    /** Counts its events: alike for all, if nothing has happened to one twice. */
    readonly version: number;
  }[];
}

/** Holds the period of every subscription against the one that runs since an instant. */
async function wrongPeriods(demo: Demo, count: number, since: string): Promise<readonly string[]> {
  const ends = since === start ? boundary : nextBoundary;
  const versions = new Set<number>();
  let right = 0;
  for (let offset = 0; offset < count; offset += pageMaximum) {
    const body = { limit: pageMaximum, offset };
    const page = await api<SubscriptionPage>(demo, 'POST', '/subscriptions/search', body);
    for (const { current_period_start, current_period_end, version } of page.items) {
      versions.add(version);
      if (current_period_start === since && current_period_end === ends) right += 1;
    }
  }
  return [
    ...(right === count ? [] : [`${right} of ${count} have the period that begins at ${since}`]),
    ...(versions.size === 1 ? [] : [`what happened to them differs: ${[...versions].join(', ')}`]),
  ];
}

const wrongEffects = ({ effects }: Advanced, count: number): readonly string[] =>
  effects === count ? [] : [`${effects} steps for ${count} subscriptions`];

interface Measured {
  readonly seconds: number;
  readonly subscriptions: number;
  readonly spent: Result['processorTime'];
  readonly faults: readonly string[];
}

function resultOf(title: string, { seconds, subscriptions, spent, faults }: Measured): Result {
  const count = subscriptions.toLocaleString('en-US');
  return {
    ...{ scenario: 'ROLL-OVER', title: `${title}: ${count} of them`, clients: null, samples: [] },
    answers: {},
    figures: [
      { name: 'until all is done', value: seconds, unit: 's' },
      { name: 'a second', value: subscriptions / seconds, unit: 'subscriptions' },
    ],
    processorTime: spent,
    faults,
    checked: `the period of each of ${count}, and as much of its history as the others have`,
  };
}

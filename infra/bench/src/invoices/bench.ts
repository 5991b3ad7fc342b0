import { type Demo, demoKeyOf, type Settings } from '@counterfoil/cli/settings';
import { machine } from '../conditions.ts';
import { inProcess } from '../in-process.ts';
import { withFreshInstallation } from '../installation.ts';
import { processorTime, spentPerThousand } from '../processor-time.ts';
import { type Profiles, prepareProfiles } from '../profile/profiles.ts';
import type { Question, QuestionLoad, QuestionPlan } from '../questions/plan.ts';
import { conclude, type Result } from '../report.ts';
import { advance, makeSandbox } from '../sandbox.ts';
import { cycleOf, openingOf, wideOf } from './books.ts';
import { linesOfWide, type Sold, sell, useIt } from './sold.ts';
import {
  allInvoices,
  debitFaults,
  invoiceFaults,
  type Prefix,
  untilDebited,
  untilInvoices,
} from './verdict.ts';

export interface InvoiceBenchOptions {
  /** Subscriptions with usage and prepaid credits whose period ends at the same instant. */
  readonly subscriptions: number;
  /** Subscriptions with a hundred lines beside them, whose invoices are read. */
  readonly wide: number;
  /** Reads and previews a second, and the measured seconds of each; a fifth is added in front to warm up. */
  readonly perSecond: number;
  readonly seconds: number;
  /** Folder for processor profiles; null: none. */
  readonly profile: string | null;
}

const defaults: InvoiceBenchOptions = {
  subscriptions: 10_000,
  wide: 20,
  perSecond: 50,
  seconds: 10,
  profile: null,
};

const start = '2027-01-01T00:00:00.000Z';
const used = '2027-01-10T12:00:00.000Z';
const before = '2027-01-31T12:00:00.000Z';
const boundary = '2027-02-01T00:00:00.000Z';
/** The delay of the setting later, for usage that was on its way. */
const finalAt = '2027-02-01T02:00:00.000Z';

const warmUpShare = 0.2;
const previewed = 200;
const program = new URL('../questions/generator-process.ts', import.meta.url);

interface World {
  readonly demo: Demo;
  readonly folder: string;
  readonly options: InvoiceBenchOptions;
  readonly profiles: Profiles | null;
}

/**
 * `bench invoices`: subscriptions with usage and prepaid credits begin, and their period ends at one instant of a test clock. Each
 * opening and each period must have one final invoice with its right figures, the next number of its month, and one debit of the
 * wallet. Then invoices with a hundred lines are read, and coming ones previewed.
 *
 * @throws {OperatorError} when one is not as it must be
 */
export async function benchInvoices(
  settings: Settings,
  given: Partial<InvoiceBenchOptions>,
  print: (line: string) => void,
): Promise<void> {
  const options = { ...defaults, ...given };
  const profilesOf = options.profile === null ? null : prepareProfiles(options.profile);
  await withFreshInstallation(settings, async (fresh, folder) => {
    const demo = await makeSandbox(fresh, 'Invoices', start);
    const world = { demo, folder, options, profiles: profilesOf?.(folder) ?? null };
    print(`before: ${machine()}`);
    const { results, sold } = await billed(world);
    const january = await allInvoices(demo, 'SUBSCRIPTION_CYCLE');
    const isWide = new Set(sold.wide);
    const wide = january.filter(({ subscription_id }) => isWide.has(subscription_id ?? ''));
    const reads = wide.map(({ id, total }) => ({
      ...{ body: null, path: `/v1/invoices/${id}`, expected: total },
    }));
    const previews = sold.usual.slice(0, previewed).map(({ id }) => ({
      body: JSON.stringify({ subscription_id: id }),
      expected: '33',
    }));
    const lines = `GET of invoices with ${linesOfWide} lines`;
    results.push(
      await asked(world, 'reading', lines, reads),
      await asked(world, 'previewing', 'previews of coming invoices', previews),
    );
    print(`after: ${machine()}`);
    conclude(results, print);
  });
}

/** Everything up to the last debit for the invoices of the first month. */
async function billed(world: World): Promise<{ readonly results: Result[]; readonly sold: Sold }> {
  const { demo, options } = world;
  const { subscriptions, wide } = options;
  const all = subscriptions + wide;
  let sold: Sold = { usual: [], wide: [] };
  const opened: Prefix = { reason: 'SUBSCRIPTION_CREATE', status: 'FINALIZED' };
  const drafted: Prefix = { reason: 'SUBSCRIPTION_CYCLE', status: 'DRAFT' };
  const closed: Prefix = { reason: 'SUBSCRIPTION_CYCLE', status: 'FINALIZED' };
  const cycles = { usual: cycleOf, wide: wideOf };
  const results = [
    await measured(world, 'opening', {
      title: 'begin, each with a customer and a wallet, and their opening invoices are final',
      work: async () => {
        sold = await sell(demo, subscriptions, wide);
        await untilInvoices(demo, opened, all);
      },
      check: () => invoiceFaults(demo, sold, opened, { usual: openingOf, wide: wideOf }),
    }),
    await measured(world, 'waiting', {
      title: 'are used, renewals announced, opening invoices overdue',
      work: async () => {
        await advance(demo, used);
        await useIt(demo, sold, used);
        await advance(demo, before);
      },
      check: async () => [],
    }),
    await measured(world, 'closing', {
      title: 'end a period at one instant: closed, rated, and their invoices drafted',
      work: async () => {
        await advance(demo, boundary);
        await untilInvoices(demo, drafted, all);
      },
      check: async () => [],
    }),
    await measured(world, 'finalising', {
      title: 'have their invoices made final with credits, at one instant',
      work: async () => {
        await advance(demo, finalAt);
        await untilInvoices(demo, closed, all);
        await untilDebited(demo, subscriptions);
      },
      check: async () => [
        ...(await invoiceFaults(demo, sold, closed, cycles)),
        ...(await debitFaults(demo, sold)),
      ],
    }),
  ];
  return { results, sold };
}

interface Step {
  readonly title: string;
  readonly work: () => Promise<void>;
  readonly check: () => Promise<readonly string[]>;
}

async function measured(world: World, name: string, step: Step): Promise<Result> {
  const { folder, options, profiles } = world;
  const count = options.subscriptions + options.wide;
  const time = processorTime(folder);
  const recording = profiles?.start(`invoices-${name}`);
  const startedAt = performance.now();
  await step.work();
  const seconds = (performance.now() - startedAt) / 1_000;
  const spent = spentPerThousand(time, processorTime(folder), count);
  await recording?.end(count);
  const shown = count.toLocaleString('en-US');
  return {
    ...{ scenario: 'INVOICES', title: `${shown} subscriptions ${step.title}`, clients: null },
    ...{ samples: [], answers: {} },
    figures: [
      { name: 'until all is done', value: seconds, unit: 's' },
      { name: 'a second', value: count / seconds, unit: 'subscriptions' },
    ],
    processorTime: spent,
    faults: await step.check(),
    checked: `${shown} of them, one final invoice each, its figures, its number and its debit`,
  };
}

/** Has invoices asked for at a rate; each must come to its total. */
async function asked(
  { demo, folder, options, profiles }: World,
  name: string,
  title: string,
  questions: readonly Question[],
): Promise<Result> {
  const { perSecond, seconds } = options;
  const time = processorTime(folder);
  const recording = profiles?.start(`invoices-${name}`);
  const load = await inProcess<QuestionPlan, QuestionLoad>(program, {
    ...{ baseUrl: demo.base_url, apiKey: demoKeyOf(demo), name: 'answers' },
    ...{ path: '/v1/invoices/preview', member: ['total'], questions },
    pace: { kind: 'open', perSecond },
    ...{ warmUpSeconds: seconds * warmUpShare, seconds },
  });
  const spent = spentPerThousand(time, processorTime(folder), load.asked);
  await recording?.end(load.asked);
  return {
    ...{ scenario: 'INVOICES', title: `${title}, ${perSecond} a second`, clients: null },
    ...{ samples: load.samples, answers: load.answers, figures: [] },
    processorTime: spent,
    faults: load.wrong === 0 ? [] : [`${load.wrong} answers have another total`],
    checked: `${load.asked.toLocaleString('en-US')} answers with the right total`,
  };
}

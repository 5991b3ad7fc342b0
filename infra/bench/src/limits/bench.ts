import { type Demo, demoKeyOf, type Settings } from '@counterfoil/cli/settings';
import { machine } from '../conditions.ts';
import { inProcess } from '../in-process.ts';
import { withFreshInstallation } from '../installation.ts';
import { processorTime, spentPerThousand } from '../processor-time.ts';
import { type Profiles, prepareProfiles } from '../profile/profiles.ts';
import type { QuestionLoad, QuestionPlan } from '../questions/plan.ts';
import { conclude, type Result } from '../report.ts';
import { type SoldLimit, sellLimit, usedOf } from './sold-limit.ts';

export interface LimitBenchOptions {
  /** Requests a second, whatever answers take. */
  readonly perSecond: number;
  /** Measured seconds of each load; a fifth is added in front to warm up. */
  readonly seconds: number;
  /** Folder for processor profiles; null: none. */
  readonly profile: string | null;
}

const defaults: LimitBenchOptions = { perSecond: 500, seconds: 10, profile: null };

const warmUpShare = 0.2;
/** The part of the recorded uses that the limit lets through. */
const limitShare = 0.8;
const program = new URL('../questions/generator-process.ts', import.meta.url);

/**
 * `bench limits`: asks whether a customer may use a feature, and then has uses recorded until the hard limit is reached and
 * beyond. Exactly the limit must be let through, and counted.
 *
 * @throws {OperatorError} when it is not
 */
export async function benchLimits(
  settings: Settings,
  given: Partial<LimitBenchOptions>,
  print: (line: string) => void,
): Promise<void> {
  const options = { ...defaults, ...given };
  const profilesOf = options.profile === null ? null : prepareProfiles(options.profile);
  await withFreshInstallation(settings, async (demo, folder) => {
    const { perSecond, seconds } = options;
    const limit = Math.floor(perSecond * seconds * (1 + warmUpShare) * limitShare);
    const sold = await sellLimit(demo, limit);
    print(`before: ${machine()}`);
    const profiles = profilesOf?.(folder) ?? null;
    const measured = { demo, folder, options, sold, profiles };
    const results = [await checks(measured), await recordings(measured)];
    print(`after: ${machine()}`);
    conclude(results, print);
  });
}

interface Measured {
  readonly demo: Demo;
  readonly folder: string;
  readonly options: LimitBenchOptions;
  readonly sold: SoldLimit;
  readonly profiles: Profiles | null;
}

async function checks(measured: Measured): Promise<Result> {
  const body = questionOf(measured.sold);
  const { load, spent } = await ask(measured, 'checks', {
    body: JSON.stringify(body),
    expected: 'within_limit',
  });
  const faults = load.wrong === 0 ? [] : [`${load.wrong} answers are wrong`];
  return {
    ...resultOf(`checks, ${measured.options.perSecond} a second`, load, spent),
    faults,
    checked: `${load.asked.toLocaleString('en-US')} right answers`,
  };
}

async function recordings(measured: Measured): Promise<Result> {
  const { demo, options, sold } = measured;
  const body = { ...questionOf(sold), record: true };
  const { load, spent } = await ask(measured, 'recordings', {
    body: JSON.stringify(body),
    expected: null,
  });
  const letThrough = load.answers['200 within_limit'] ?? 0;
  const used = await usedOf(demo, sold);
  const faults = [
    ...(load.wrong === 0 ? [] : [`${load.wrong} requests failed`]),
    ...(letThrough === sold.limit ? [] : [`${letThrough} of ${sold.limit} were let through`]),
    ...(used === String(sold.limit) ? [] : [`${used} of ${sold.limit} are counted`]),
  ];
  return {
    ...resultOf(`checks that record, ${options.perSecond} a second, one limit`, load, spent),
    faults,
    checked: `exactly ${sold.limit.toLocaleString('en-US')} of ${load.asked.toLocaleString('en-US')} were let through, and counted`,
  };
}

const questionOf = ({ featureId }: SoldLimit) => ({
  external_customer_id: 'limited',
  feature_id: featureId,
});

async function ask(
  { demo, folder, options, profiles }: Measured,
  title: string,
  question: QuestionPlan['questions'][number],
): Promise<{ readonly load: QuestionLoad; readonly spent: Result['processorTime'] }> {
  const { perSecond, seconds } = options;
  const recording = profiles?.start(title);
  const before = processorTime(folder);
  const load = await inProcess<QuestionPlan, QuestionLoad>(program, {
    ...{ baseUrl: demo.base_url, apiKey: demoKeyOf(demo), name: 'answers' },
    ...{ path: '/v1/entitlements/check', member: ['reason'], questions: [question] },
    pace: { kind: 'open', perSecond },
    ...{ warmUpSeconds: seconds * warmUpShare, seconds },
  });
  const spent = spentPerThousand(before, processorTime(folder), load.asked);
  await recording?.end(load.asked);
  return { load, spent };
}

const resultOf = (
  title: string,
  { samples, answers }: QuestionLoad,
  spent: Result['processorTime'],
) => ({
  ...{ scenario: 'LIMITS', title, clients: null, samples, answers, figures: [] },
  processorTime: spent,
});

import { setTimeout as pause } from 'node:timers/promises';
import { OperatorError } from '@counterfoil/cli/settings';
import { api, inParallel } from '../api.ts';
import { keyOf, outcomes } from '../load/plan.ts';
import type { Figure } from '../report.ts';
import type { Scenario, World } from '../scenario.ts';
import { median } from '../times.ts';
import { judge, untilVisible } from '../verdict.ts';

const entriesPerBulk = 1_000;
const bulksAtOnce = 2;
const keys = 'bench-S10';
const restartMilliseconds = 60_000;
const pollMilliseconds = 20;
const pages = 20;

/**
 * S10: a wallet with a long history that no process has in memory: the time of its first debit, of the
 * next one, and of a page at the far end of its entries.
 */
export const coldWallet: Scenario = {
  id: 'S10',
  title: 'first debit of a cold wallet with a long history, and its oldest page',
  run: async (world) => {
    const { demo, options, store, print } = world;
    const bulks = Math.ceil(options.coldEntries / entriesPerBulk);
    const wallet = await world.newWallet('cold', '1000000000');
    const after = await store.head();
    const startedAt = performance.now();
    await fill(world, wallet, bulks);
    await untilVisible(store, demo);
    const filled = performance.now() - startedAt;
    print(`  a wallet of ${bulks * entriesPerBulk} entries after ${Math.round(filled / 1_000)} s`);
    await restartApi(world);
    const debits = await timesOf(3, () =>
      api(demo, 'POST', `/wallets/${wallet}/debit`, { credits: '1' }),
    );
    await untilVisible(store, demo);
    const oldest = bulks * entriesPerBulk - entriesPerBulk;
    const page = (offset: number) => () =>
      api(demo, 'GET', `/wallets/${wallet}/transactions?limit=50&offset=${offset}`);
    const verdict = await judge(world, after, {
      keys,
      outcomes: new Uint8Array(bulks).fill(outcomes.acknowledged),
      entriesPerKey: entriesPerBulk,
    });
    return [
      {
        scenario: coldWallet.id,
        title: `${coldWallet.title}: ${(bulks * entriesPerBulk).toLocaleString('en-US')} entries`,
        clients: null,
        samples: [],
        answers: {},
        figures: [
          figure(
            'entries per second while it is filled, to the read model',
            perSecond(bulks, filled),
            '/s',
          ),
          figure('first debit', debits[0], 'ms'),
          figure('second debit', debits[1], 'ms'),
          figure('newest page', median(await timesOf(pages, page(0))), 'ms'),
          figure(
            `page at offset ${oldest}, median`,
            median(await timesOf(pages, page(oldest))),
            'ms',
          ),
        ],
        processorTime: null,
        ...verdict,
      },
    ];
  },
};

const figure = (name: string, value: number | undefined, unit: string): Figure => ({
  name,
  value: value ?? Number.NaN,
  unit,
});

const perSecond = (bulks: number, milliseconds: number): number =>
  (bulks * entriesPerBulk * 1_000) / milliseconds;

/** Milliseconds of each of a number of calls, one after the other. */
async function timesOf(count: number, call: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  while (times.length < count) {
    const startedAt = performance.now();
    await call();
    times.push(performance.now() - startedAt);
  }
  return times;
}

/** Fills a wallet through the API, as its owner would. */
async function fill({ demo }: World, wallet: string, bulks: number): Promise<void> {
  const entries = Array.from({ length: entriesPerBulk }, () => ({ type: 'debit', credits: '1' }));
  await inParallel(bulksAtOnce, bulks, (index) =>
    api(demo, 'POST', `/wallets/${wallet}/transactions/bulk`, { entries }, keyOf(keys, index)),
  );
}

/** Ends the API process and waits until the next one answers: it has no wallet in memory. */
async function restartApi({ demo, pidOf }: World): Promise<void> {
  const before = pidOf('api');
  if (before === undefined) throw new OperatorError('The API does not run.');
  process.kill(before, 'SIGTERM');
  const deadline = Date.now() + restartMilliseconds;
  while (Date.now() < deadline) {
    await pause(pollMilliseconds);
    const now = pidOf('api');
    if (now === undefined || now === before) continue;
    const answer = await fetch(`${demo.base_url}/readyz`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
  }
  throw new OperatorError('The API did not come back.');
}

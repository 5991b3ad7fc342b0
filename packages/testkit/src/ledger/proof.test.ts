import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertProven } from './audit.ts';
import { proveScript } from './runs.ts';
import { scenarios } from './scenarios.ts';
import {
  bought,
  breakerStory,
  customerStory,
  datedStory,
  enoughStory,
  fullEvidence,
  fullScenario,
  owingStory,
  returnStories,
  reversalStories,
  shareStory,
} from './test-scenario.ts';

/** Small and always the same: the part of the proof that planted bugs are held against. */
const test = suite('ledgers against the oracle, the same ones every time');

const seed = 20_260_101;

test('everything that a wallet can do', async () => {
  await assertProven(await fullEvidence('PRE_PAID'));
  await assertProven(await fullEvidence('POST_PAID'));
});

test('credits for an amount, where both neighbours are equally near', async () => {
  const amounts = ['33.33', '0.03', '0.05', '0.07'];
  const steps = amounts.map((figure) => ({ wait: 0, isKeyed: false, plan: bought(figure) }));
  const scenario = { ...fullScenario(), topUpRate: '20000000', steps };
  assert.is((await proveScript(scenario, 1)).requests, 1 + amounts.length);
});

const stories = {
  datedStory,
  ...reversalStories,
  ...returnStories,
  breakerStory,
  customerStory,
  enoughStory,
  owingStory,
  shareStory,
};
for (const [name, scenario] of Object.entries(stories)) {
  test(`on a test clock: ${name}`, async () => {
    const wallets = 1 + (scenario.others ?? []).length;
    const { requests } = await proveScript(scenario, 1, 'test');
    assert.is(requests, scenario.steps.length + wallets);
  });
}

for (const [clients, clock] of [
  [1, 'system'],
  [1, 'test'],
  [3, 'test'],
] as const) {
  test(`the same scenarios, ${clients} clients at once, ${clock} clock`, async () => {
    for (const scenario of fc.sample(scenarios(10, 40), { seed, numRuns: 20 })) {
      assert.ok((await proveScript(scenario, clients, clock)).requests > 0);
    }
  });
}

test.run();

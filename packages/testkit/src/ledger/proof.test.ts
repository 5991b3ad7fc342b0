import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertProven } from './audit.ts';
import { proveScript } from './runs.ts';
import { scenarios } from './scenarios.ts';
import {
  bought,
  breakerStory,
  fullEvidence,
  fullScenario,
  reversalStories,
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

for (const [name, scenario] of Object.entries({ ...reversalStories, breakerStory })) {
  test(`on a test clock: ${name}`, async () => {
    assert.is((await proveScript(scenario, 1, 'test')).requests, scenario.steps.length + 1);
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

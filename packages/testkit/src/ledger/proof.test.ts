import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertProven } from './audit.ts';
import { scripts } from './plans.ts';
import { proveScript } from './runs.ts';
import { bought, fullEvidence, fullStory } from './test-story.ts';

/** Small and always the same: the part of the proof that planted bugs are held against. */
const test = suite('ledgers against the oracle, the same ones every time');

const seed = 20_260_101;

test('everything that a wallet can do', async () => {
  await assertProven(await fullEvidence('PRE_PAID'));
  await assertProven(await fullEvidence('POST_PAID'));
});

test('credits for an amount, where both neighbours are equally near', async () => {
  const amounts = ['33.333333333', '0.000000003', '7.000000005', '7.000000003'];
  const steps = amounts.map((figure) => ({ wait: 0, isKeyed: false, plan: bought(figure) }));
  const script = { ...fullStory(), topUpRate: '2', steps };
  assert.is(await proveScript(script, 1), 1 + amounts.length);
});

for (const clients of [1, 3]) {
  test(`the same scripts, ${clients} clients at once`, async () => {
    for (const script of fc.sample(scripts(10, 40), { seed, numRuns: 20 })) {
      assert.ok((await proveScript(script, clients)) > 0);
    }
  });
}

test.run();

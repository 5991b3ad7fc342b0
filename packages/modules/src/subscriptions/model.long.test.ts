import fc from 'fast-check';
import { suite } from 'uvu';
import { anyLife, assertSameLife } from './test-model-lives.ts';

/** The long form of `model.property.test.ts`: with COUNTERFOIL_TEST_SEED it lives the same lives again. */
const test = suite('subscriptions against an independent model, at length');

const lives = Number(process.env.COUNTERFOIL_TEST_LIVES ?? 10_000);
const seed = Number(process.env.COUNTERFOIL_TEST_SEED ?? Date.now() % 1_000_000_000);

test(`${lives} random lives`, () => {
  console.log(`${lives} lives of subscriptions, seed ${seed}`);
  fc.assert(fc.property(anyLife, assertSameLife), { numRuns: lives, seed });
});

test.run();

import fc from 'fast-check';
import { suite } from 'uvu';
import { executionIsPreview } from '../test-previews.ts';

/** The long form of `preview.property.test.ts`: with COUNTERFOIL_TEST_SEED it lives the same lives again. */
const test = suite('previews of modifications, at length');

/** Each life is some states, two and a half with a preview in the mean. */
const lives = Number(process.env.COUNTERFOIL_TEST_LIVES ?? 4_500);
const seed = Number(process.env.COUNTERFOIL_TEST_SEED ?? Date.now() % 1_000_000_000);

test(`previews in ${lives} random lives are what their executions record`, async () => {
  console.log(`${lives} lives with previews, seed ${seed}`);
  await fc.assert(executionIsPreview, { numRuns: lives, seed });
});

test.run();

import fc from 'fast-check';
import { suite } from 'uvu';
import { changeIsPreview } from '../test-change-previews.ts';

/** The long form of `preview.property.test.ts`: with COUNTERFOIL_TEST_SEED it lives the same lives again. */
const test = suite('previews of changes of plan, at length');

const lives = Number(process.env.COUNTERFOIL_TEST_LIVES ?? 10_000);
const seed = Number(process.env.COUNTERFOIL_TEST_SEED ?? Date.now() % 1_000_000_000);

test(`changes of plan in ${lives} random lives are what their previews show`, async () => {
  console.log(`${lives} lives with a change of plan, seed ${seed}`);
  await fc.assert(changeIsPreview, { numRuns: lives, seed });
});

test.run();

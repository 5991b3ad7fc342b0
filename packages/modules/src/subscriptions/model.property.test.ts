import fc from 'fast-check';
import { suite } from 'uvu';
import { anyLife, assertSameLife } from './test-model-lives.ts';

const test = suite('subscriptions against an independent model');

/** Some faults show in one life of some hundreds: whoever looks for a certain one asks for more lives. */
const lives = Number(process.env.COUNTERFOIL_TEST_LIVES ?? 400);

test('what is settled, and when, is what the model says', () => {
  fc.assert(fc.property(anyLife, assertSameLife), { numRuns: lives });
});

test.run();

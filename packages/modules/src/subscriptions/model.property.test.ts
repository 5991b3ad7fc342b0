import fc from 'fast-check';
import { suite } from 'uvu';
import { anyLife, assertSameLife } from './test-model-lives.ts';

const test = suite('subscriptions against an independent model');

test('what is settled, and when, is what the model says', () => {
  fc.assert(fc.property(anyLife, assertSameLife), { numRuns: 400 });
});

test.run();

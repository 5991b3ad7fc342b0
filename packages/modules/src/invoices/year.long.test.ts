import fc from 'fast-check';
import { suite } from 'uvu';
import { anyBilledLife, assertSameYear } from './test-year-lives.ts';

const test = suite('invoices of many years against an independent model');

test('every figure of every invoice of 2,000 subscriptions is what the model says', async () => {
  const endOnFailure = true;
  const property = fc.asyncProperty(anyBilledLife, assertSameYear);
  await fc.assert(property, { numRuns: 2_000, endOnFailure });
});

test.run();

import fc from 'fast-check';
import { suite } from 'uvu';
import { anyBilledLife, assertSameYear } from './test-year-lives.ts';

const test = suite('invoices of a year against an independent model');

test('every figure of every invoice is what the model says', async () => {
  await fc.assert(fc.asyncProperty(anyBilledLife, assertSameYear), { numRuns: 100 });
});

test.run();

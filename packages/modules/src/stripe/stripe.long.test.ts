import fc from 'fast-check';
import { suite } from 'uvu';
import { live, stripeLife } from './test-stripe-lives.ts';

const test = suite('many lives of an invoice that Stripe is to pay');

test('whatever is lost, repeated or read again, Stripe has the money of our payments, to the cent', async () => {
  await fc.assert(fc.asyncProperty(stripeLife, live), { numRuns: 3_000 });
});

test.run();

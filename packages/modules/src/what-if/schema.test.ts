import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { customersMaximum, whatIfSchema } from './schema.ts';

const test = suite('questions about another plan');

const span = {
  start_time: '2026-01-01T00:00:00.000Z',
  end_time: '2026-02-01T00:00:00.000Z',
  currency: 'usd',
};

for (const [what, body, isTaken] of [
  ['customers', { customer_ids: ['cust_1'] }, true],
  ['those who are subscribed to a plan', { subscribed_to: 'plan_1' }, true],
  ['nobody', {}, false],
  ['both', { customer_ids: ['cust_1'], subscribed_to: 'plan_1' }, false],
  ['no customers', { customer_ids: [] }, false],
  ['too many', { customer_ids: Array(customersMaximum + 1).fill('cust_1') }, false],
] as const) {
  test(`a question about ${what} is ${isTaken ? 'taken' : 'refused'}`, () => {
    assert.is(whatIfSchema.safeParse({ ...span, ...body }).success, isTaken);
  });
}

test.run();

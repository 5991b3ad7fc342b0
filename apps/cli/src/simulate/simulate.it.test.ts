import { setTimeout as pause } from 'node:timers/promises';
import { type SharedStack, sharedStack } from '@counterfoil/testkit/stack';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { simulate } from './simulate.ts';

const test = suite('simulate');

let stack: SharedStack;
test.before(async () => {
  stack = await sharedStack();
});

test('a subscription is lived through in a copy of the catalogue, and its timeline printed', async () => {
  const { apiKey, environmentId, ok } = await stack.tenant('simulate');
  const plan = await ok('POST', '/plans', { name: 'Pro', lookup_key: 'pro' });
  await ok('POST', '/prices', {
    ...{ entity_type: 'PLAN', entity_id: plan.id, type: 'FIXED', billing_model: 'FLAT_FEE' },
    ...{ billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', currency: 'usd', amount: '31' },
    ...{ display_name: 'Seats', start_date: '2020-01-01T00:00:00Z' },
  });
  const lines: string[] = [];
  await simulate(
    { baseUrl: stack.baseUrl, apiKey },
    {
      ...{ environment: environmentId, plan: 'pro', currency: 'usd', period: 'MONTHLY' },
      ...{ from: '2035-01-01T00:00:00.000Z', to: '2035-06-01T00:00:00.000Z' },
      ...{ trialDays: undefined, cancelAt: '2035-03-11T00:00:00Z', prorates: true },
    },
    (line) => lines.push(line),
    () => pause(50),
  );
  const names = (line: string) => line.replace(/^environment \w+/, 'environment');
  assert.equal(lines.map(names), [
    'environment, pro from 2035-01-01T00:00:00.000Z to 2035-06-01T00:00:00.000Z',
    '2035-01-01  period_opened              31',
    '  charge            31  Seats, 2035-01-01 – 2035-02-01',
    '2035-02-01  period_opened              31',
    '  charge            31  Seats, 2035-02-01 – 2035-03-01',
    '2035-03-01  period_opened              31',
    '  charge            31  Seats, 2035-03-01 – 2035-04-01',
    '2035-03-11  cancelled                 -21',
    '  credit           -21  Seats, 2035-03-11 – 2035-04-01',
    '2035-03-11  cancelled',
    'charged 93, credited 21 usd, usage not included',
  ]);
  assert.is(
    (await ok('GET', '/customers')).pagination.total,
    0,
    'nothing in the one that is copied',
  );
});

test.run();

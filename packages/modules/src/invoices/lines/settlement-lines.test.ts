import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { day, invoiceWorld } from '../test-invoice-world.ts';

const test = suite('lines of invoices');

/** The lines of the invoice of January, after so many calls, of which a hundred are free. */
async function january(calls: number, terms: object) {
  const { create, use, pass, invoices } = await invoiceWorld();
  await create(terms);
  use(calls, day(1, 3));
  await pass(day(2, 1, 3));
  const [, cycle] = await invoices();
  return cycle?.lines ?? [];
}

const together = { commitment_amount: 20, overage_factor: 2, enable_true_up: true };

test('usage above what a subscription has committed to is a line of its own, at its factor (E 14.2)', async () => {
  const lines = await january(1300, together);
  assert.equal(
    lines.map(({ kind, price_type, quantity, free_quantity, amount, metadata }) =>
      [kind, price_type, quantity, free_quantity, amount, metadata.overage_factor].join(' '),
    ),
    [
      'usage USAGE 1090.909090909090909 100 20 ',
      'overage USAGE 109.090909090909091  4 2',
      'fixed FIXED 1  100 ',
    ],
  );
});

test('the rest of a commitment is a line under no price, which credits for usage may pay (E 27 B)', async () => {
  const lines = await january(600, together);
  assert.equal(
    lines.map(({ kind, price_type, price_id, amount }) => [
      kind,
      price_type,
      price_id !== null,
      amount,
    ]),
    [
      ['usage', 'USAGE', true, '10'],
      ['true_up', 'USAGE', false, '10'],
      ['fixed', 'FIXED', true, '100'],
    ],
  );
  assert.equal(lines[1]?.metadata, {
    description: 'Commitment true-up',
    is_commitment_trueup: 'true',
    commitment_amount: '20',
    commitment_utilized: '10',
  });
});

test('a commitment for a year knows what earlier months have used of it (E 14.3)', async () => {
  const { create, use, pass, invoices } = await invoiceWorld();
  const terms = { commitment_amount: 30, overage_factor: 2, commitment_duration: 'ANNUAL' };
  await create(terms);
  use(1300, day(1, 3));
  use(1300, day(2, 3));
  await pass(day(3, 1, 3));
  assert.equal(
    (await invoices()).map(({ lines }) => lines.map(({ kind, amount }) => `${kind} ${amount}`)),
    [['fixed 100'], ['usage 22', 'fixed 100'], ['usage 8', 'overage 28', 'fixed 100']],
  );
});

test('a line tells where it comes from', async () => {
  const [usage, fixed] = await january(150, {});
  assert.equal(
    [usage, fixed].map((line) => [
      line?.display_name,
      line?.entity_type,
      line?.plan_display_name,
      line?.meter_display_name,
      line?.period_start,
      line?.period_end,
      line?.metadata.description,
    ]),
    [
      ['Calls', 'plan', 'Pro', 'Calls', day(1, 1), day(2, 1), 'Calls (Usage Charge)'],
      ['Base', 'plan', 'Pro', null, day(2, 1), day(3, 1), 'Base (Fixed Charge)'],
    ],
  );
});

test.run();

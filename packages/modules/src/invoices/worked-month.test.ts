import { type DecimalText, Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Invoice } from './invoice.ts';
import { noteOrProblem } from './settling/notes.ts';
import { day, invoiceWorld } from './test-invoice-world.ts';
import { voidInvoice } from './voiding/decisions.ts';

const test = suite('the worked month (E 31)');

const shown = (each: Invoice) => ({
  number: each.invoice_number,
  reason: each.billing_reason,
  status: each.invoice_status,
  period: `${each.period_start} ${each.period_end}`,
  lines: each.lines.map(({ display_name, quantity, free_quantity, amount }) =>
    [display_name, quantity, free_quantity, amount].join(' '),
  ),
  figures: [each.subtotal, each.total_discount, each.total_credits, each.total_tax, each.total],
});

test('January: 99.00 at once, then 115.78, of which the wallet pays all that it has', async () => {
  const { create, coupon, wallet, use, pass, invoices, balance, settle } = await invoiceWorld();
  const { id: walletId } = await wallet('5');
  const { id: ten } = await coupon();
  await create({ coupons: [ten] });
  await settle();
  const [first] = await invoices();
  assert.ok(first);
  assert.equal(shown(first), {
    number: 'INV-202601-00001',
    reason: 'SUBSCRIPTION_CREATE',
    status: 'FINALIZED',
    period: `${day(1, 1)} ${day(2, 1)}`,
    lines: ['Base 1  100'],
    figures: ['100', '10', '0', '9', '99'],
  });
  assert.equal([first.billing_sequence, first.due_date], [1, day(1, 2)]);
  use(1300, day(1, 3));
  await pass(day(2, 1));
  const [, draft] = await invoices();
  assert.ok(draft);
  assert.equal(shown(draft), {
    number: null,
    reason: 'SUBSCRIPTION_CYCLE',
    status: 'DRAFT',
    period: `${day(1, 1)} ${day(2, 1)}`,
    lines: ['Calls 1200 100 22', 'Base 1  100'],
    figures: ['122', '12.2', '0', '10.98', '120.78'],
  });
  assert.is(await balance(walletId), '5');
  await pass(day(2, 1, 2));
  const all = await invoices();
  assert.is(all.length, 2);
  assert.equal(all[1] && shown(all[1]), {
    number: 'INV-202602-00001',
    reason: 'SUBSCRIPTION_CYCLE',
    status: 'FINALIZED',
    period: `${day(1, 1)} ${day(2, 1)}`,
    lines: ['Calls 1200 100 22', 'Base 1  100'],
    figures: ['122', '12.2', '5', '10.98', '115.78'],
  });
  assert.equal([all[1]?.billing_sequence, all[1]?.due_date], [2, day(2, 2, 2)]);
  assert.is(await balance(walletId), '0');
});

test('February: a line that is added, and an end that gives back what was paid, net of the discount', async () => {
  const month = await invoiceWorld();
  const { create, call, post, planId, coupon, wallet, use, pass, invoices, balance, settle, pay } =
    month;
  const { id: walletId } = await wallet('5');
  const { id: ten } = await coupon();
  const { id } = await create({ coupons: [ten], proration_behavior: 'create_prorations' });
  use(1300, day(1, 3));
  await pass(day(2, 15));
  const { id: price_id } = await post('/prices', {
    ...{ entity_type: 'PLAN', entity_id: planId, type: 'FIXED', billing_model: 'FLAT_FEE' },
    ...{ currency: 'usd', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', amount: '28' },
    start_date: '2020-01-01T00:00:00Z',
    display_name: 'Support',
  });
  await call('POST /subscriptions/{id}/lineitems', { params: { id }, body: { price_id } });
  await settle();
  const added = (await invoices()).at(-1);
  assert.equal(added && shown(added).figures, ['14', '1.4', '0', '1.26', '13.86']);
  assert.equal([added?.billing_reason, added?.invoice_type], ['SUBSCRIPTION_UPDATE', 'ONE_OFF']);
  use(600, day(2, 16));
  await pass(day(2, 22));
  await pay();
  const body = { cancellation_type: 'immediate', proration_behavior: 'create_prorations' };
  await call('POST /subscriptions/{id}/cancel', { params: { id }, body });
  await settle();
  const last = (await invoices()).at(-1);
  assert.equal(last && shown(last), {
    number: 'INV-202602-00003',
    reason: 'PRORATION',
    status: 'FINALIZED',
    period: `${day(2, 1)} ${day(2, 22)}`,
    lines: ['Calls 500 100 10'],
    figures: ['10', '1', '9', '0.9', '0.9'],
  });
  // 22.50 and 6.30, with 2.25 and 0.63 of tax, less the 9.00 that have paid for the calls.
  assert.is(await balance(walletId), '22.68');

  const [, february] = await invoices();
  assert.ok(february);
  const given = february.given_back.flatMap(({ lines }) => lines);
  assert.equal(
    given.map(({ amount, tax }) => [amount, tax]),
    [['22.5', '2.25']],
  );
  // It is with the customer: neither a void nor a credit note gives it back once more.
  assert.throws(
    () => voidInvoice(february.id)(february, day(2, 22)),
    (error: Problem) => error.details?.reason === 'refunded',
  );
  const [line] = given;
  assert.ok(line);
  const credited = (amount: string) =>
    noteOrProblem(february, {
      credit_note_id: 'cn_1',
      lines: [{ line_id: line.line_id, amount: amount as DecimalText }],
    });
  assert.instance(credited('67.51'), Problem);
  assert.not.instance(credited('67.5'), Problem);
});

test('usage that comes late is on the next invoice, as if it had been on time (D61)', async () => {
  const { create, use, calls, pass, invoices } = await invoiceWorld();
  await create();
  use(1300, day(1, 3));
  await pass(day(2, 1, 3));
  use(100, day(1, 20));
  await pass(day(3, 1, 3));
  const [, , march] = await invoices();
  assert.equal(
    march?.lines.map(({ kind, amount, period_start }) => [kind, amount, period_start]),
    [
      ['usage', '0', day(2, 1)],
      ['late_usage', '1', day(1, 1)],
      ['fixed', '100', day(3, 1)],
    ],
  );
  // Fifty of them are taken back: what was billed for them lowers the next invoice.
  calls.splice(1_300, 50);
  await pass(day(4, 1, 3));
  const april = (await invoices()).at(-1);
  assert.equal(
    april?.lines.map(({ kind, amount, quantity }) => [kind, amount, quantity]),
    [
      ['usage', '0', '0'],
      ['late_usage', '-0.5', '-50'],
      ['fixed', '100', '1'],
    ],
  );
  await pass(day(5, 1, 3));
  const may = (await invoices()).at(-1);
  assert.is(
    may?.lines.some(({ kind }) => kind === 'late_usage'),
    false,
  );
});

test.run();

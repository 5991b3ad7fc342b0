import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Invoice } from './invoice.ts';
import { day, invoiceWorld } from './test-invoice-world.ts';

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

test.run();

import type { DecimalText } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Invoice, invoice } from '../invoice.ts';
import { replaceVoided } from '../recalculation/replace.ts';
import { day, invoiceWorld } from '../test-invoice-world.ts';
import { voidInvoice } from '../voiding/decisions.ts';

const test = suite('usage that comes late');

const shown = (each: Invoice | undefined) =>
  each?.lines.map(({ kind, amount }) => `${kind} ${amount}`).join(', ');

test('late usage that fills a commitment gives back all of what was charged for its rest', async () => {
  const { create, use, pass, invoices } = await invoiceWorld();
  await create({ commitment_amount: 20, overage_factor: 2, enable_true_up: true });
  use(600, day(1, 3));
  await pass(day(2, 1, 3));
  const [, january] = await invoices();
  assert.is(shown(january), 'usage 10, true_up 10, fixed 100');
  use(500, day(1, 20));
  use(1100, day(2, 3));
  await pass(day(3, 1, 3));
  const february = (await invoices()).at(-1);
  // All 1,100 of January come to 20, which was billed.
  assert.is(shown(february), 'usage 20, late_usage 10, late_usage -10, fixed 100');
  assert.is(february?.total_tax, '12' as DecimalText);
  use(1100, day(3, 3));
  await pass(day(4, 1, 3));
  assert.is(shown((await invoices()).at(-1)), 'usage 20, fixed 100');
});

/** Two months, of which the second one billed late usage of the first, and is void and billed again. */
async function billedAgain() {
  const world = await invoiceWorld();
  const { create, use, pass, invoices, request, settle } = world;
  await create();
  use(1300, day(1, 3));
  await pass(day(2, 1, 3));
  use(100, day(1, 20));
  await pass(day(3, 1, 3));
  const march = (await invoices()).at(-1);
  assert.ok(march);
  assert.is(shown(march), 'usage 0, late_usage 1, fixed 100');
  const again = async () => {
    await request().execute(invoice, march.id, voidInvoice(march.id));
    await replaceVoided(request(), march.id);
    await settle();
  };
  return { ...world, again };
}

test('what an invoice bills again that is void is not billed a third time', async () => {
  const { again, pass, invoices } = await billedAgain();
  await again();
  await pass(day(3, 2));
  assert.is(shown((await invoices()).at(-1)), 'usage 0, late_usage 1, fixed 100');
  await pass(day(4, 1, 3));
  assert.is(shown((await invoices()).at(-1)), 'usage 0, fixed 100');
});

test('an invoice that bills again leaves out what later ones have billed', async () => {
  const { again, pass, use, invoices } = await billedAgain();
  use(100, day(1, 21));
  await pass(day(4, 1, 3));
  assert.is(shown((await invoices()).at(-1)), 'usage 0, late_usage 1, fixed 100');
  await again();
  await pass(day(4, 2));
  assert.is(shown((await invoices()).at(-1)), 'usage 0, late_usage 1, fixed 100');
});

test.run();

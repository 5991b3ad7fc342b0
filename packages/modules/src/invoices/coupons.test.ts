import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { subscription } from '../subscriptions/index.ts';
import { couponsReturned } from './coupon-returns.ts';
import { couponUse, useCoupon } from './coupons.ts';
import { periodInvoiceId } from './drafting/cause.ts';
import { invoice } from './invoice.ts';
import { replaceVoided } from './recalculation/replace.ts';
import { day, invoiceWorld } from './test-invoice-world.ts';
import { voidInvoice } from './voiding/decisions.ts';

const test = suite('coupons that are for one invoice');

/** A subscription whose calls are half off once. */
async function halfOffCalls() {
  const world = await invoiceWorld();
  const { call, coupon, create, request, invoices } = world;
  const { id: half } = await coupon({ name: 'Half', cadence: 'once', percentage_off: '50' });
  const found = await call<{ items: { id: string; type: string }[] }>('POST /prices/search', {
    body: {},
  });
  const price = found.items.find(({ type }) => type === 'USAGE');
  const { id } = await create({ line_item_coupons: { [price?.id ?? '']: [half] } });
  const sold = await request().load(subscription, id);
  const used = sold?.coupons[0]?.id ?? '';
  return {
    ...world,
    id,
    used,
    holder: async () => (await request().load(couponUse, used))?.invoice_id ?? null,
    discounts: async () => (await invoices()).map(({ total_discount }) => total_discount),
  };
}

test('one that an attempt has taken, and its invoice did not need in the end, is left to the next', async () => {
  const { id, used, request, pass, use, holder, discounts } = await halfOffCalls();
  const january = periodInvoiceId(id, day(2, 1));
  // The process that has counted usage, which was void a moment later, is dead.
  await request().execute(couponUse, used, useCoupon(january));
  await pass(day(2, 1, 3));
  assert.is(await holder(), null);
  use(200, day(2, 3));
  await pass(day(3, 1, 3));
  assert.equal(await discounts(), ['0', '0', '1']);
  assert.is(await holder(), periodInvoiceId(id, day(3, 1)));
});

test('one of a void invoice goes to the invoice that bills it again, and to no other', async () => {
  const { id, request, pass, use, settle, holder, discounts } = await halfOffCalls();
  use(200, day(1, 3));
  use(200, day(2, 3));
  await pass(day(2, 1, 3));
  const january = periodInvoiceId(id, day(2, 1));
  assert.is(await holder(), january);
  await request().execute(invoice, january, voidInvoice(january));
  const context = request();
  for await (const event of context.history(invoice, january)) {
    const outcome = { events: [event], revision: event.revision, state: null, replayed: false };
    await context.carryOut(couponsReturned, january, outcome);
  }
  assert.is(await holder(), null);
  const { by } = await replaceVoided(request(), january);
  await settle();
  assert.is(await holder(), by);
  await pass(day(3, 1, 3));
  // The void one still shows what it had.
  assert.equal(await discounts(), ['0', '1', '1', '0']);
});

test.run();

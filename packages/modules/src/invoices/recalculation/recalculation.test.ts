import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { invoice } from '../invoice.ts';
import { billingWorld } from '../test-billing-world.ts';
import { day } from '../test-invoice-world.ts';
import { recompute } from './recompute.ts';

const test = suite('invoices that are computed again');

test('a draft of a subscription is computed again in place, and keeps the ids of its lines', async () => {
  const { create, settle, use, request, invoices, usage, passAll } = await billingWorld();
  await create();
  await settle();
  await passAll(day(2, 1));
  const draft = (await invoices()).find(({ invoice_status }) => invoice_status === 'DRAFT');
  assert.ok(draft);
  use(200, day(1, 20));
  const { state } = await request().execute(invoice, draft.id, {
    prepare: () => recompute(request(), draft.id, usage),
  });
  assert.equal(
    state?.lines.map(({ id, amount }) => [id, amount]),
    draft.lines.map(({ id }, index) => [id, index === 0 ? '2' : '100']),
  );
  const again = await request().execute(invoice, draft.id, {
    prepare: () => recompute(request(), draft.id, usage),
  });
  assert.equal(again.events, []);
});

test('a draft of the caller is computed again with the taxes of now, and made final on request', async () => {
  const { make, recompute: again, post, customerId, typesOf } = await billingWorld();
  const { id, line_items } = await make({ invoice_status: 'DRAFT' });
  const count = typesOf('invoice').length;
  assert.is((await again(id)).total, '110');
  assert.is(typesOf('invoice').length, count);
  await post('/taxes/rates', { name: 'City', code: 'CITY', percentage_value: '1' });
  const association = { tax_rate_code: 'CITY', entity_type: 'customer', entity_id: customerId };
  await post('/taxes/associations', association);
  const shown = await again(id);
  assert.equal([shown.total, shown.line_items?.[0]?.id], ['111', line_items?.[0]?.id]);
  const final = await again(id, { finalize: 'true' });
  assert.equal([final.invoice_status, final.total], ['FINALIZED', '111']);
  assert.is((await rejection(again(id))).details?.reason, 'no_draft');
});

test('what a void invoice of a subscription has billed is billed again, once', async () => {
  const { create, settle, invoices, makeVoid, recalculate, get } = await billingWorld();
  await create();
  await settle();
  const [first] = await invoices();
  assert.ok(first);
  assert.is((await rejection(recalculate(first.id))).details?.reason, 'not_void');
  await makeVoid(first.id);
  const { invoice_id } = await recalculate(first.id);
  assert.equal(await recalculate(first.id), await recalculate(first.id));
  await settle();
  const shown = await get(invoice_id);
  assert.equal(
    [shown.billing_reason, shown.total, shown.billing_sequence],
    ['SUBSCRIPTION_CREATE', first.total, first.billing_sequence],
  );
  assert.is((await get(first.id)).recalculated_invoice_id, invoice_id);
  assert.is((await invoices()).length, 2);
});

test('an invoice of the caller is not billed again', async () => {
  const { make, makeVoid, recalculate } = await billingWorld();
  const { id } = await make();
  await makeVoid(id);
  assert.is((await rejection(recalculate(id))).details?.reason, 'unsuitable');
});

test.run();

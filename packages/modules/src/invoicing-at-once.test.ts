import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { invoicedWorld, type Told } from './test-invoiced-world.ts';

const test = suite('invoices of subscriptions at once');

const automatic = { collection_method: 'charge_automatically' };
const latestOf = ({ latest_invoice }: Told) => latest_invoice as Told;

test('a subscription shows its latest invoice: when it is created, read and listed', async () => {
  const { create, call, post } = await invoicedWorld();
  const created = await create();
  const invoice = latestOf(created);
  assert.equal(
    [invoice.invoice_status, invoice.total, invoice.billing_reason, invoice.billing_sequence],
    ['FINALIZED', '100', 'SUBSCRIPTION_CREATE', 1],
  );
  const read = latestOf(await call('GET /subscriptions/{id}', { params: { id: created.id } }));
  assert.equal([read.id, (read.line_items as object[]).length], [invoice.id, 1]);
  await create();
  const { items } = await post('/subscriptions/search', {});
  const listed = (items as Told[]).map(latestOf);
  assert.equal([listed.length, listed.some(({ id }) => id === invoice.id)], [2, true]);
  assert.equal(
    listed.map(({ line_items }) => line_items),
    [undefined, undefined],
  );
});

test('a draft has none, and gets it with its activation', async () => {
  const { create, call } = await invoicedWorld();
  const draft = await create({ subscription_status: 'draft' });
  assert.is(draft.latest_invoice, undefined);
  const params = { id: draft.id };
  const active = await call('POST /subscriptions/{id}/activate', { params, body: {} });
  assert.equal([active.subscription_status, latestOf(active).total], ['active', '100']);
});

test('a repetition is answered as it was then, and invoices nothing again', async () => {
  const { create, streams } = await invoicedWorld();
  const body = { ...automatic, payment_behavior: 'allow_incomplete' };
  const first = await create(body, 'once');
  const again = await create(body, 'once');
  assert.equal([again.id, latestOf(again).id], [first.id, latestOf(first).id]);
  assert.equal([again.subscription_status, streams('invoice')], ['incomplete', 1]);
});

for (const [has, subscription_status, payment_status, remaining] of [
  ['100', 'active', 'SUCCEEDED', '0'],
  ['99', 'incomplete', 'PENDING', '1'],
] as const) {
  test(`allow_incomplete with ${has} in a wallet is ${subscription_status}`, async () => {
    const { create, wallet } = await invoicedWorld();
    await wallet(has, { wallet_type: 'POST_PAID' });
    const created = await create({ ...automatic, payment_behavior: 'allow_incomplete' });
    assert.is(created.subscription_status, subscription_status);
    const { payment_status: status, amount_remaining } = latestOf(created);
    assert.equal([status, amount_remaining], [payment_status, remaining]);
  });
}

test('prepaid credits that may pay for fixed charges make it active, and what is sent waits', async () => {
  const { create, wallet, prepaid } = await invoicedWorld();
  await prepaid('250');
  const paid = await create({ ...automatic, payment_behavior: 'allow_incomplete' });
  assert.equal([paid.subscription_status, latestOf(paid).total], ['active', '0']);
  await wallet('500', { wallet_type: 'POST_PAID' });
  const body = { collection_method: 'send_invoice', payment_behavior: 'default_incomplete' };
  const sent = await create({ ...body, plan_id: paid.plan_id });
  const { total_prepaid_credits_applied, amount_remaining } = latestOf(sent);
  assert.equal(
    [sent.subscription_status, total_prepaid_credits_applied, amount_remaining],
    ['active', '100', '0'],
  );
  const last = await create(body);
  assert.equal([last.subscription_status, latestOf(last).amount_remaining], ['incomplete', '50']);
});

const refusing = { ...automatic, payment_behavior: 'error_if_incomplete' };

test('error_if_incomplete refuses what would not be paid at once, and leaves nothing behind', async () => {
  const { create, wallet, prepaid, post, streams, world, call } = await invoicedWorld();
  const { id } = await wallet('60', { wallet_type: 'POST_PAID' });
  await prepaid('30');
  const coupon = await post('/coupons', {
    ...{ name: 'Five', type: 'fixed', amount_off: '5', currency: 'usd', cadence: 'forever' },
    max_redemptions: 1,
  });
  const before = world.store.log.length;
  const refused = await rejection(create({ ...refusing, coupons: [coupon.id] }));
  assert.equal(
    [refused.details?.reason, refused.details?.amount_due, refused.details?.amount_remaining],
    ['insufficient_credits', '65', '5'],
  );
  assert.is(world.store.log.length, before);
  assert.equal([streams('subscription'), streams('invoice'), streams('payment')], [0, 0, 0]);
  await call('POST /wallets/{id}/top-up', {
    params: { id },
    body: { credits_to_add: '5', transaction_reason: 'FREE_CREDIT_GRANT' },
  });
  const created = await create({ ...refusing, coupons: [coupon.id] });
  const { payment_status, total, amount_remaining } = latestOf(created);
  assert.equal(
    [created.subscription_status, payment_status, total, amount_remaining],
    ['active', 'SUCCEEDED', '65', '0'],
  );
});

test('error_if_incomplete counts the taxes that the subscription brings', async () => {
  const { create, wallet, post } = await invoicedWorld();
  await wallet('100', { wallet_type: 'POST_PAID' });
  await post('/taxes/rates', { name: 'VAT', code: 'VAT', percentage_value: '10' });
  const tax_rate_overrides = [
    { tax_rate_code: 'VAT', currency: 'usd', priority: 1, auto_apply: true },
  ];
  const refused = await rejection(create({ ...refusing, tax_rate_overrides }));
  assert.is(refused.details?.amount_remaining, '10');
  assert.is((await create(refusing)).subscription_status, 'active');
});

test('error_if_incomplete refuses nothing that opens no period now', async () => {
  const { create } = await invoicedWorld();
  const trial = await create({ ...refusing, trial_period_days: 7 });
  const draft = await create({ ...refusing, subscription_status: 'draft' });
  assert.equal([trial.subscription_status, draft.subscription_status], ['trialing', 'draft']);
});

test('a change of plan answers its invoice, and its preview the same figures', async () => {
  const { create, call, plan, world } = await invoicedWorld();
  const { id } = await create({ proration_behavior: 'create_prorations' });
  const body = { target_plan_id: await plan('300') };
  world.now = '2026-01-16T12:00:00.000Z' as typeof world.now;
  const previewed = await call('POST /subscriptions/{id}/change/preview', { params: { id }, body });
  const executed = await call('POST /subscriptions/{id}/change/execute', { params: { id }, body });
  const [next, made] = [previewed.next_invoice_preview as Told, executed.invoice as Told];
  assert.equal([made.billing_reason, made.total], ['SUBSCRIPTION_UPDATE', '100']);
  assert.equal([next.subtotal, next.total, next.total_tax], [made.subtotal, made.total, '0']);
  assert.is(made.invoice_status, 'FINALIZED');
});

test('a modification answers its invoice, and its preview the same figures', async () => {
  const { create, call, world } = await invoicedWorld();
  const created = await create({ proration_behavior: 'create_prorations' });
  const [line] = created.line_items as Told[];
  world.now = '2026-01-16T12:00:00.000Z' as typeof world.now;
  const body = {
    type: 'quantity_change',
    quantity_change_params: { line_items: [{ id: line?.id, quantity: '3' }] },
  };
  const params = { id: created.id };
  const previewed = await call('POST /subscriptions/{id}/modify/preview', { params, body });
  const executed = await call('POST /subscriptions/{id}/modify/execute', { params, body });
  const [foreseen, made] = [previewed.invoice as Told, executed.invoice as Told];
  assert.equal([foreseen.total, made.total, made.invoice_type], ['100', '100', 'ONE_OFF']);
  const { invoices } = executed.changed_resources as { invoices: object[] };
  assert.equal(invoices, [{ id: made.id, action: 'created', status: 'FINALIZED' }]);
});

test.run();

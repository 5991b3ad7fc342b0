import type { DecimalText, Instant } from '@counterfoil/kernel';
import { published, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { couponRedemptions } from '../../coupons/index.ts';
import { subscription, subscriptions } from '../../subscriptions/index.ts';
import { invoice as invoiceRecord } from '../invoice.ts';
import { notePayment } from '../settling/payments.ts';
import { billingWorld } from '../test-billing-world.ts';
import { day } from '../test-invoice-world.ts';

const test = suite('subscriptions that wait for their first payment');

const sent = { collection_method: 'send_invoice', payment_behavior: 'default_incomplete' };

async function waitingWorld(terms: object = {}) {
  const world = await billingWorld();
  const { create, settle, request, invoices, passAll, pass, call, makeVoid, typesOf } = world;
  const { id } = await create({ ...sent, ...terms });
  await settle();
  const state = async () => {
    const found = await request().load(subscription, id);
    assert.ok(found);
    return found;
  };
  return {
    ...world,
    id,
    state,
    status: async () => (await state()).subscription_status,
    opening: async () => {
      const [first] = await invoices();
      assert.ok(first);
      return first;
    },
    /** Everything that comes by an instant: of subscriptions, and of invoices that are not paid. */
    until: async (at: Instant) => {
      await passAll(at);
      await pass(at);
      await settle();
    },
    voided: async (invoiceId: string) => {
      await makeVoid(invoiceId);
      await settle();
    },
    cancel: (body: object = { cancellation_type: 'immediate' }) =>
      call('POST /subscriptions/{id}/cancel', { params: { id }, body }),
    times: (type: string) => typesOf('subscription').filter((each) => each === type).length,
    told: async () => {
      const [messages] = subscriptions.publicEvents ?? [];
      assert.ok(messages);
      const all = await published(request(), messages, subscription, id);
      return all.map(({ type }) => type.replace('subscription.', ''));
    },
  };
}

test('it is incomplete until its opening invoice is paid, and then active, once', async () => {
  const { status, opening, pay, settle, times, told, state } = await waitingWorld();
  assert.is(await status(), 'incomplete');
  assert.equal([(await opening()).total, (await state()).opened?.end], ['110', day(2, 1)]);
  const { id } = await opening();
  await pay(id, '109.99');
  await settle();
  assert.is(await status(), 'incomplete');
  await pay(id, '0.01', 'pay_2');
  await settle();
  await settle();
  assert.equal([await status(), times('FirstPaymentMade')], ['active', 1]);
  assert.equal(await told(), ['created', 'updated', 'activated']);
});

for (const [payment_behavior, collection_method] of [
  ['default_active', 'send_invoice'],
  ['default_active', 'charge_automatically'],
] as const) {
  test(`it is active at once: ${payment_behavior}, ${collection_method}`, async () => {
    const { status, times } = await waitingWorld({ payment_behavior, collection_method });
    assert.equal([await status(), times('FirstPaymentMade')], ['active', 0]);
  });
}

test('it is active at once where its first period charges nothing, or what it charges comes to nothing', async () => {
  const whole = await billingWorld();
  const free = await whole.coupon({ percentage_off: '100' });
  const { status, opening, told } = await waitingWorld({ start_date: day(1, 1) });
  assert.is(await status(), 'incomplete');
  const { id } = await whole.create({ ...sent, coupons: [free] });
  await whole.settle();
  const state = await whole.request().load(subscription, id);
  assert.is(state?.subscription_status, 'active');
  assert.equal(
    [(await opening()).invoice_status, await told()],
    ['FINALIZED', ['created', 'updated']],
  );
  const { id: planId } = await whole.post('/plans', { name: 'Usage' });
  const price = {
    ...{ entity_type: 'PLAN', entity_id: planId, type: 'USAGE', billing_model: 'FLAT_FEE' },
    ...{ currency: 'usd', billing_period: 'MONTHLY', invoice_cadence: 'ARREAR', amount: '1' },
    ...{ meter_id: whole.meterId, start_date: '2020-01-01T00:00:00Z' },
  };
  await whole.post('/prices', price);
  const used = await whole.create({ ...sent, plan_id: planId });
  const usage = await whole.request().load(subscription, used.id);
  assert.is(usage?.subscription_status, 'active');
});

test('nothing is granted, given, renewed or changed while it waits, and all of it comes when it is paid', async () => {
  const world = await waitingWorld({
    credit_grants: [
      { name: 'Monthly', credits: '5', cadence: 'RECURRING', period: 'MONTHLY', period_count: 1 },
    ],
    payment_terms: '60 NET',
  });
  const { status, until, times, opening, pay, settle, call, id, cancel } = world;
  const given = async () =>
    (await call<{ features: object[] }>('GET /subscriptions/{id}/entitlements', { params: { id } }))
      .features.length;
  await until(day(2, 10));
  assert.equal(
    [await status(), times('PeriodOpened'), times('CreditsGranted'), await given()],
    ['incomplete', 1, 0, 0],
  );
  const target = { target_plan_id: world.planId };
  for (const refused of [
    () =>
      call('POST /subscriptions/{id}/pause', {
        params: { id },
        body: { pause_mode: 'immediate', pause_days: 3 },
      }),
    () => call('POST /subscriptions/{id}/change/execute', { params: { id }, body: target }),
    () => cancel({ cancellation_type: 'end_of_period' }),
  ]) {
    assert.is((await rejection(refused())).details?.reason, 'incomplete');
  }
  await pay((await opening()).id, '110');
  await settle();
  assert.equal(
    [await status(), times('PeriodOpened'), times('CreditsGranted'), await given()],
    ['active', 2, 2, 1],
  );
  const all = await world.invoices();
  assert.equal(
    all.map(({ billing_reason }) => billing_reason),
    ['SUBSCRIPTION_CREATE', 'SUBSCRIPTION_CYCLE'],
  );
});

test('a trial that ends begins to wait', async () => {
  const { status, until, opening, pay, settle, told } = await waitingWorld({
    trial_period_days: 7,
  });
  assert.is(await status(), 'trialing');
  await until(day(1, 8));
  assert.is(await status(), 'incomplete');
  const invoice = await opening();
  assert.equal([invoice.billing_reason, invoice.total], ['SUBSCRIPTION_TRIAL_END', '110']);
  await pay(invoice.id, '110');
  await settle();
  assert.is(await status(), 'active');
  assert.equal((await told()).filter((type) => type === 'activated').length, 1);
});

test('one that nobody pays ends some days after the due date, with its invoice, and settles nothing', async () => {
  const { status, until, opening, times, state, told, typesOf } = await waitingWorld();
  await until('2026-01-04T23:59:59.999Z' as Instant);
  assert.is(await status(), 'incomplete');
  await until(day(1, 5));
  assert.equal([await status(), (await opening()).invoice_status], ['cancelled', 'VOIDED']);
  assert.equal([times('SettlementRecorded'), times('SubscriptionCancelled')], [1, 1]);
  assert.is((await state()).cancellation_reason, 'The first invoice was not paid');
  await until(day(3, 1));
  assert.equal([times('SubscriptionCancelled'), times('PeriodOpened')], [1, 1]);
  assert.equal((await told()).slice(-2), ['updated', 'cancelled']);
  assert.equal(typesOf('invoice').filter((type) => type === 'InvoiceVoided').length, 1);
});

test('the setting says after how many days', async () => {
  const world = await billingWorld();
  const value = {
    incomplete_expiry_days: 0,
    auto_cancellation_enabled: true,
    grace_period_days: 9,
  };
  await world.call('PUT /settings/subscription_config', { body: { value } });
  const { id } = await world.create(sent);
  await world.settle();
  await world.passAll(day(1, 2));
  await world.pass(day(1, 2));
  await world.settle();
  const state = await world.request().load(subscription, id);
  assert.is(state?.subscription_status, 'cancelled');
});

test('a payment that is under way when its time is over is waited for', async () => {
  const { request, opening, until, status, settle, pay } = await waitingWorld();
  const { id } = await opening();
  const noted = (payment_status: 'PROCESSING' | 'FAILED') =>
    notePayment({ payment_id: 'pay_1', payment_status });
  await request().execute(invoiceRecord, id, noted('PROCESSING'));
  await until(day(1, 20));
  assert.is(await status(), 'incomplete');
  await pay(id, '110');
  await settle();
  assert.is(await status(), 'active');
});

test('a payment that fails when its time is over ends it', async () => {
  const { request, opening, until, status } = await waitingWorld();
  const { id } = await opening();
  const note = (payment_status: 'PROCESSING' | 'FAILED') =>
    request().execute(invoiceRecord, id, notePayment({ payment_id: 'pay_1', payment_status }));
  await note('PROCESSING');
  await until(day(1, 20));
  await note('FAILED');
  await until(day(1, 21));
  assert.equal([await status(), (await opening()).invoice_status], ['cancelled', 'VOIDED']);
});

test('its cancellation makes the invoice void, and what was paid of it goes to the wallet', async () => {
  const { cancel, settle, status, opening, pay, reactions, stateOf } = await waitingWorld();
  const { id } = await opening();
  await pay(id, '40');
  await cancel();
  await settle();
  const state = await stateOf(id);
  assert.equal([await status(), state?.invoice_status], ['cancelled', 'VOIDED']);
  const voided = state?.payments.map(({ amount }) => amount);
  assert.equal([voided, reactions.length > 0], [['40'], true]);
});

test('a cancellation before its invoice was made finds it when it is', async () => {
  const world = await billingWorld();
  const { id } = await world.create(sent);
  const body = { cancellation_type: 'immediate' };
  await world.call('POST /subscriptions/{id}/cancel', { params: { id }, body });
  await world.settle();
  const [opening] = await world.invoices();
  assert.is(opening?.invoice_status, 'VOIDED');
});

test('an opening invoice that is made void by hand ends it, and a payment that comes later changes nothing', async () => {
  const { voided, opening, status, pay, settle, times } = await waitingWorld();
  const { id } = await opening();
  await voided(id);
  assert.is(await status(), 'cancelled');
  await pay(id, '110');
  await settle();
  assert.equal([await status(), times('FirstPaymentMade')], ['cancelled', 0]);
});

test('no payment changes one that is paused or has ended, and none that comes twice', async () => {
  const { opening, pay, settle, call, id, status, times } = await waitingWorld();
  const invoice = await opening();
  await pay(invoice.id, '110');
  await settle();
  await call('POST /subscriptions/{id}/pause', {
    params: { id },
    body: { pause_mode: 'immediate', pause_days: 3 },
  });
  await pay(invoice.id, '5' as DecimalText, 'pay_2');
  await settle();
  assert.equal([await status(), times('FirstPaymentMade')], ['paused', 1]);
});

test('one that ends unpaid gives back the coupons that it has redeemed', async () => {
  const world = await billingWorld();
  const coupon = await world.coupon({ max_redemptions: 1 });
  await world.create({ ...sent, coupons: [coupon] });
  await world.settle();
  const redeemed = async () => (await world.request().load(couponRedemptions, coupon))?.total ?? 0;
  const before = await redeemed();
  const [opening] = await world.invoices();
  await world.makeVoid(opening?.id ?? '');
  await world.settle();
  assert.equal([before, await redeemed()], [1, 0]);
});

test('those who inherit it wait with it, and whoever joins one that is paid for waits for nothing', async () => {
  const world = await billingWorld();
  await world.post('/customers', { name: 'Bob', external_id: 'bob' });
  await world.post('/customers', { name: 'Cy', external_id: 'cy' });
  const inheritance = { external_customer_ids_to_inherit_subscription: ['bob'] };
  const { id } = await world.create({ ...sent, inheritance });
  await world.settle();
  const statusOf = async (external_customer_id: string) => {
    const found = await world.call<{ items: { subscription_status: string }[] }>(
      'POST /subscriptions/search',
      { body: { external_customer_id } },
    );
    return found.items.map(({ subscription_status }) => subscription_status);
  };
  assert.equal(await statusOf('bob'), ['incomplete']);
  const [opening] = await world.invoices();
  await world.pay(opening?.id ?? '', '110');
  await world.settle();
  assert.equal(await statusOf('bob'), ['active']);
  await world.call('POST /subscriptions/{id}/modify/execute', {
    params: { id },
    body: {
      type: 'inheritance',
      inheritance_params: {
        action: 'add',
        external_customer_ids_to_inherit_subscription: ['cy'],
      },
    },
  });
  await world.settle();
  assert.equal(await statusOf('cy'), ['active']);
});

test('a change of plan goes on without the condition', async () => {
  const { opening, pay, settle, call, id, post, request } = await waitingWorld();
  await pay((await opening()).id, '110');
  await settle();
  const { id: target_plan_id } = await post('/plans', { name: 'More' });
  await post('/prices', {
    ...{ entity_type: 'PLAN', entity_id: target_plan_id, type: 'FIXED', amount: '300' },
    ...{ billing_model: 'FLAT_FEE', currency: 'usd', billing_period: 'MONTHLY' },
    ...{ invoice_cadence: 'ADVANCE', start_date: '2020-01-01T00:00:00Z' },
  });
  const body = { target_plan_id };
  await call('POST /subscriptions/{id}/change/execute', { params: { id }, body });
  await settle();
  const before = await request().load(subscription, id);
  const next = await request().load(subscription, before?.followed_by ?? '');
  assert.equal([before?.subscription_status, next?.subscription_status], ['cancelled', 'active']);
});

test.run();

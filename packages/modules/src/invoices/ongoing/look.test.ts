import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  endOrder,
  judgeOngoing,
  type SeenBalance,
  spendingOf,
  type Wallet,
  wallet,
} from '../../wallets/index.ts';
import { balanceWorld, day, declaredMessages } from './test-balance-world.ts';

const test = suite(
  'alerts and automatic top-up on what is left once everything is paid (D28, D29, D48)',
);

const below = (critical: string, info?: string) => ({
  alert_enabled: true,
  critical: { threshold: critical, condition: 'below' },
  ...(info && { info: { threshold: info, condition: 'below' } }),
});

/** A customer with a month of calls, 0.02 each from the hundred and first on, and a wallet for usage. */
async function calling(credits: string, body: object) {
  const world = await balanceWorld();
  const { id } = await world.wallet(credits, body);
  await world.create();
  await world.pass(day(1, 2));
  let calls = 0;
  return {
    ...world,
    id,
    /** More calls, and a look after them. */
    call: async (count: number) => {
      world.use(count, day(1, 3, calls));
      calls += 1;
      world.at(day(1, 20));
      await world.look();
    },
    /** The messages about the wallet: tail and level. */
    told: async () =>
      (await world.messages(id)).map(({ type, body: message }) => {
        const { alert, alert_status } = message as Told;
        return `${type} ${alert?.state ?? alert_status}: ${alert?.available ?? message.available}`;
      }),
    eventsOf: async (type: string) =>
      world.world.store.log.filter((event) => event.type === type).length,
  };
}

interface Told {
  readonly alert?: { readonly state: string; readonly available: string };
  readonly alert_status?: string;
}

test('usage lowers a balance to a level, once for each crossing, and a load raises it again', async () => {
  const { call, look, told, post, id, stateOf, balanceOf } = await calling('10', {
    alert_settings: below('5', '8'),
  });
  await call(150);
  assert.equal(await told(), [], '1.00 is used');
  await call(100);
  await look();
  await call(100);
  await call(0);
  assert.equal(await told(), [
    'wallet.ongoing_balance.dropped info: 7',
    'wallet.ongoing_balance.dropped in_alarm: 5',
  ]);
  const shown = await balanceOf(id);
  assert.equal([shown.alert_state, shown.ongoing_alert_state], ['ok', 'in_alarm']);
  await post(`/wallets/${id}/top-up`, {
    credits_to_add: '20',
    transaction_reason: 'FREE_CREDIT_GRANT',
  });
  await look();
  assert.equal((await told()).slice(2), ['wallet.ongoing_balance.recovered ok: 25']);
  assert.equal((await stateOf(id)).ongoing, { alert_state: 'ok', features: {} });
});

test('a feature tells of its own levels, with the records and the flat fields beside them (D48)', async () => {
  const world = await calling('10', {});
  const { call, post, archive, messages, told, id, customerId, meterId, look, stateOf } = world;
  const watching = { name: 'Watched', type: 'metered', meter_id: meterId };
  const { id: featureId } = await post('/features', { ...watching, alert_settings: below('4') });
  await post('/features', { ...watching, name: 'Other' });
  await call(400);
  assert.equal(await told(), ['feature.wallet_balance.alert in_alarm: 4']);
  const [message] = await messages(id);
  assert.ok(message);
  const { wallet, customer, feature, ...flat } = message.body as Record<string, { id: string }>;
  assert.equal(flat, {
    alert_type: 'feature_wallet_balance',
    alert_status: 'in_alarm',
    feature_id: featureId,
    wallet_id: id,
    customer_id: customerId,
    current_balance: '4',
    credit_balance: '10',
    available: '4',
  });
  assert.equal([wallet?.id, customer?.id, feature?.id], [id, customerId, featureId]);
  assert.is(message.resourceId, featureId);
  // What nobody watches any more is left.
  await archive(featureId);
  await look();
  assert.equal((await told()).slice(1), ['feature.wallet_balance.alert ok: 4']);
  assert.equal((await stateOf(id)).ongoing.features, {});
});

test('every message is of the declared form', async () => {
  const { call, post, messages, id, meterId } = await calling('10', { alert_settings: below('4') });
  const watching = { name: 'Watched', type: 'metered', meter_id: meterId };
  await post('/features', { ...watching, alert_settings: below('4') });
  await call(400);
  const seen = await messages(id);
  assert.is(seen.length, 2);
  for (const { type, body } of seen) {
    const declared = declaredMessages[type];
    assert.ok(declared, type);
    assert.equal(declared.body.parse(body), body, type);
  }
});

const topsUp = (more: object = {}) => ({
  auto_topup: { enabled: true, threshold: '5', amount: '20', ...more },
});

test('usage orders a top-up, one at a time; its end orders none, and its payment raises the balance', async () => {
  const { call, look, stateOf, eventsOf, id, request, change } = await calling('10', topsUp());
  await call(350);
  assert.equal(
    (await stateOf(id)).topups.map(({ automatic }) => automatic?.cause),
    ['ongoing'],
  );
  await call(10);
  await look();
  assert.is(await eventsOf('TopUpRequested'), 1);
  const [order] = (await stateOf(id)).topups;
  const paid = endOrder(id, order?.transaction_id ?? '', 'completed');
  await request().execute(wallet, id, paid);
  await look();
  assert.is(await eventsOf('TopUpRequested'), 1, '24.80 are left');
  await change(id, topsUp({ threshold: '25' }));
  await look();
  assert.is(await eventsOf('TopUpRequested'), 2);
});

test('a load at once is repeated by each look as long as it is too small, and at most as often as the day allows', async () => {
  const loads = { invoicing: false, amount: '1', daily_limit: 2 };
  const { call, look, stateOf, told, id } = await calling('10', topsUp(loads));
  await call(450);
  assert.is((await stateOf(id)).credit_balance, '11', '3.00 were left, and 4.00 are');
  await look();
  await look();
  await look();
  assert.is((await stateOf(id)).credit_balance, '12', '5.00 are at the threshold still');
  assert.equal(await told(), ['wallet.credit_balance.dropped ok: 12'], 'the day allows no more');
});

test('two processes that look at once tell of a crossing once, and order once', async () => {
  const body = { alert_settings: below('5'), ...topsUp() };
  const world = await calling('10', body);
  const { use, at, look, another, eventsOf } = world;
  use(400, day(1, 3));
  at(day(1, 20));
  const others = [another(), another(), another()];
  await Promise.all(others.map((by) => look(by)));
  assert.equal(
    [await eventsOf('OngoingAlertStateChanged'), await eventsOf('TopUpRequested')],
    [1, 1],
  );
});

/** A look at a wallet that is going to pay for usage, and for nothing else. */
const seenWith = (state: Wallet, usage: string): SeenBalance =>
  ({
    ...{ current_period_usage: usage, unpaid_invoices_amount: '0', held: '0' },
    ...{ spending: spendingOf(state), position: '7', features: [] },
  }) as unknown as SeenBalance;

test('a look that a payment with credits overtakes judges nothing, and looks again', async () => {
  const { id, stateOf, world } = await calling('10', topsUp());
  const before = await stateOf(id);
  const seen = seenWith(before, '6');
  const decide = judgeOngoing(id, seen);
  assert.equal(
    decide(before, world.now).map(({ type }) => type),
    ['TopUpRequested'],
  );
  // The usage was billed and paid meanwhile: it is in the balance, and must not be taken off again.
  const paid = { ...before, credit_balance: '7' } as typeof before;
  assert.equal(decide(paid, world.now), []);
});

test('a look that finds credits expired tells of the alert before it tops up, as any other occasion does (D28, D29)', async () => {
  const { id, stateOf, world } = await calling('10', {
    initial_credits_expiry_date_utc: day(1, 10),
    alert_settings: below('5'),
    ...topsUp({ invoicing: false }),
  });
  const before = await stateOf(id);
  const seen = seenWith(before, '0');
  world.now = day(1, 10);
  const told = judgeOngoing(id, seen)(before, world.now).map(({ type, data }) =>
    'after' in data ? `${type} ${data.after}` : type,
  );
  assert.equal(told, [
    'CreditsExpired',
    'AlertStateChanged in_alarm',
    'OngoingAlertStateChanged in_alarm',
    'CreditsLoaded',
    'OngoingAlertStateChanged ok',
    'AlertStateChanged ok',
  ]);
});

test('what is owed by invoices is judged after each of their events', async () => {
  const world = await calling('100', { alert_settings: below('40') });
  const { billed, received, lookAfter, told } = world;
  const invoiceId = await billed({ lines: [{ price_type: 'USAGE', amount: '70' }] });
  await lookAfter(invoiceId);
  await received(invoiceId, '50');
  await lookAfter(invoiceId);
  assert.equal(await told(), [
    'wallet.ongoing_balance.dropped in_alarm: 30',
    'wallet.ongoing_balance.recovered ok: 80',
  ]);
});

test('a debit of one wallet is felt by the next that has to pay in its place', async () => {
  const {
    wallet: open,
    call,
    look,
    told,
    post,
  } = await calling('10', {
    alert_settings: below('2'),
    priority: 2,
  });
  const { id: first } = await open('5', { allow_multiple: true, priority: 1 });
  await call(300);
  assert.equal(await told(), []);
  await post(`/wallets/${first}/debit`, { credits: '5' });
  await look();
  assert.equal(await told(), []);
  await call(250);
  assert.equal(await told(), ['wallet.ongoing_balance.dropped in_alarm: 1']);
});

test('a wallet that is frozen is not judged before it is active again', async () => {
  const { call, look, told, post, id } = await calling('10', { alert_settings: below('5') });
  await post(`/wallets/${id}/freeze`, {});
  await call(400);
  assert.equal(await told(), []);
  await post(`/wallets/${id}/unfreeze`, {});
  await look();
  assert.equal(await told(), ['wallet.ongoing_balance.dropped in_alarm: 4']);
});

test.run();

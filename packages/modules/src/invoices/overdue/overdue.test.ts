import type { Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { subscription } from '../../subscriptions/index.ts';
import { billingWorld } from '../test-billing-world.ts';

const test = suite('overdue invoices');

const count = (types: readonly string[]): number =>
  types.filter((type) => type === 'FellOverdue').length;

test('an invoice that is not paid by its due date falls overdue at that instant, once', async () => {
  const { make, pass, typesOf, get } = await billingWorld();
  const due_date = '2026-01-10T00:00:00.000Z';
  const { id } = await make({ due_date });
  await pass('2026-01-09T23:59:59.999Z');
  assert.is(count(typesOf('invoice')), 0);
  await pass('2026-01-15T00:00:00.000Z');
  await pass('2026-02-15T00:00:00.000Z');
  assert.is(count(typesOf('invoice')), 1);
  const shown = await get(id);
  assert.equal([shown.overdue_at, shown.payment_status], [due_date, 'PENDING']);
});

test('what is paid, void or a draft does not, and what is paid in part does', async () => {
  const { make, pass, pay, makeVoid, typesOf, stateOf } = await billingWorld();
  const [paid, part, gone] = [await make(), await make(), await make()];
  await make({ invoice_status: 'DRAFT', due_date: '2026-01-02T00:00:00Z' });
  await pay(paid.id, '110');
  await pay(part.id, '109.99');
  await makeVoid(gone.id);
  await pass('2026-03-01T00:00:00.000Z');
  assert.is(count(typesOf('invoice')), 1);
  assert.is((await stateOf(part.id))?.overdue_at, '2026-01-02T00:00:00.000Z');
});

test('a due date that is put off counts', async () => {
  const { make, update, pass, stateOf } = await billingWorld();
  const { id } = await make();
  await update(id, { due_date: '2026-02-01T00:00:00Z' });
  await pass('2026-01-31T00:00:00.000Z');
  assert.is((await stateOf(id))?.overdue_at, null);
  await pass('2026-02-01T00:00:00.000Z');
  assert.is((await stateOf(id))?.overdue_at, '2026-02-01T00:00:00.000Z');
});

async function unpaidWorld(value: object) {
  const world = await billingWorld();
  const { create, settle, call, request, passAll, pass } = world;
  await call('PUT /settings/subscription_config', { body: { value } });
  const { id } = await create();
  await settle();
  return {
    ...world,
    id,
    /** The state of the subscription at a later instant. */
    statusAt: async (at: string) => {
      await passAll(at as Instant);
      await pass(at);
      return (await request().load(subscription, id))?.subscription_status;
    },
  };
}

test('a subscription ends when an invoice of it is not paid within its grace, where that is set', async () => {
  const { statusAt, typesOf } = await unpaidWorld({
    auto_cancellation_enabled: true,
    grace_period_days: 5,
  });
  assert.is(await statusAt('2026-01-06T23:59:59.999Z'), 'active');
  assert.is(await statusAt('2026-01-07T00:00:00.000Z'), 'cancelled');
  const ended = () => typesOf('invoice').filter((type) => type === 'SubscriptionEnded').length;
  assert.is(ended(), 1);
  await statusAt('2026-01-20T00:00:00.000Z');
  assert.is(ended(), 1);
});

test('it goes on when it was paid within its grace, and where nothing is set', async () => {
  const paid = await unpaidWorld({ auto_cancellation_enabled: true });
  assert.is(await paid.statusAt('2026-01-03T00:00:00.000Z'), 'active');
  const [opening] = await paid.invoices();
  await paid.pay(opening?.id ?? '', '110');
  assert.is(await paid.statusAt('2026-01-20T00:00:00.000Z'), 'active');
  const { statusAt } = await unpaidWorld({ grace_period_days: 0 });
  assert.is(await statusAt('2026-01-20T00:00:00.000Z'), 'active');
});

test('one that has ended before stays as it is', async () => {
  const { statusAt, call, id, typesOf } = await unpaidWorld({ auto_cancellation_enabled: true });
  await statusAt('2026-01-03T00:00:00.000Z');
  const body = { cancellation_type: 'immediate' };
  await call('POST /subscriptions/{id}/cancel', { params: { id }, body });
  assert.is(await statusAt('2026-01-20T00:00:00.000Z'), 'cancelled');
  assert.ok(typesOf('invoice').includes('SubscriptionEnded'));
});

test.run();

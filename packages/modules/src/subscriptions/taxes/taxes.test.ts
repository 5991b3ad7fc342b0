import { where } from '@counterfoil/engine/define';
import { reactTo, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { taxAssociations } from '../../tax-associations/index.ts';
import { taxAssociationRecords, taxes } from '../../taxes/index.ts';
import { followingSubscriptions } from '../change/reactions.ts';
import { subscription } from '../subscription.ts';
import { subscriptionWorld } from '../test-subscription-world.ts';
import { taxesOfSubscription } from './reactions.ts';

const test = suite('taxes of subscriptions');

/** A world with two tax rates. */
async function taxedWorld() {
  const world = await subscriptionWorld();
  for (const code of ['VAT', 'CITY']) {
    const body = { name: code, code, percentage_value: '19' };
    await world.call(taxes.routes, 'POST /taxes/rates', body);
  }
  const attach = (entity_id: string, code = 'VAT') =>
    world.call(taxAssociations.routes, 'POST /taxes/associations', {
      ...{ tax_rate_code: code, entity_type: 'subscription', entity_id },
    });
  const attached = async (entity_id: string) => {
    const page = { limit: 10, offset: 0 };
    const ofOne = where('entity_id', 'eq', entity_id);
    const { items } = await world.request().read.list(taxAssociationRecords.table, page, ofOne);
    return items.map(({ currency, priority }) => [currency, priority]);
  };
  return { ...world, attach, attached };
}

test('a subscription brings tax rates of its own, attached once', async () => {
  const { create, request, attached } = await taxedWorld();
  const tax_rate_overrides = [{ tax_rate_code: 'vat', currency: 'usd', priority: 2 }];
  const { id } = await create({ tax_rate_overrides });
  await reactTo(request(), taxesOfSubscription, id);
  await reactTo(request(), taxesOfSubscription, id);
  assert.equal(await attached(id), [['usd', 2]]);
});

test('rates that are unknown, or there twice, are refused', async () => {
  const { create } = await taxedWorld();
  const vat = { tax_rate_code: 'vat', currency: 'usd' };
  const unknown = await rejection(
    create({ tax_rate_overrides: [{ ...vat, tax_rate_code: 'none' }] }),
  );
  assert.equal(
    [unknown.code, unknown.details?.field],
    ['not_found', 'tax_rate_overrides.0.tax_rate_code'],
  );
  const twice = await rejection(create({ tax_rate_overrides: [vat, vat] }));
  assert.is(twice.errors?.[0]?.pointer, '/tax_rate_overrides/1/tax_rate_code');
});

test('rates are attached later, and not to what has ended or does not exist', async () => {
  const { create, cancel, attach, attached } = await taxedWorld();
  const { id } = await create();
  await attach(id);
  assert.is((await rejection(attach(id))).code, 'already_exists');
  assert.equal(await attached(id), [[undefined, 0]]);
  await cancel(id, { cancellation_type: 'immediate' });
  assert.is((await rejection(attach(id, 'CITY'))).details?.reason, 'ended');
  assert.is((await rejection(attach('subs_none'))).code, 'not_found');
});

test('a change of plan takes them along', async () => {
  const { create, attach, attached, plan, change, request } = await taxedWorld();
  const target_plan_id = await plan('Better', [{ amount: '20' }]);
  const { id } = await create();
  await attach(id);
  const changed = await change(id, { target_plan_id });
  assert.equal(
    changed.carry_over.map(({ kind, carried }) => [kind, carried]),
    [['tax', true]],
  );
  await reactTo(request(), followingSubscriptions, id);
  const next = (await request().load(subscription, id))?.followed_by ?? '';
  await reactTo(request(), taxesOfSubscription, next);
  assert.equal(await attached(next), [['usd', 0]]);
});

test.run();

import type { PlanId } from '@counterfoil/kernel';
import { folded, given, problemOf } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deleteEntitlement } from '../entitlement/decisions.ts';
import { createCreditGrant, endCreditGrant } from '../grant/decisions.ts';
import { createCreditGrantSchema } from '../grant/schema.ts';
import { type Offer, offer, planOf } from '../offer.ts';
import { endPrice, updatePrice } from '../price/decisions.ts';
import { updatePriceSchema } from '../price/schema.ts';
import {
  after,
  draft,
  entitlements,
  grant,
  instantAfter,
  owner,
  plan,
  planId,
  prices,
} from '../test-offers.ts';
import { clonePlan } from './clone.ts';
import { archivePlan } from './decisions.ts';
import { clonePlanSchema } from './schema.ts';

const test = suite('clone of a plan');

const cloneId = 'plan_02' as PlanId;
const requestOf = (request: object = {}) =>
  clonePlanSchema.parse({ name: 'Pro 2', lookup_key: 'pro-2', ...request });

const credits = createCreditGrant(
  owner,
  'plan_id',
  createCreditGrantSchema.parse({
    name: 'Credits',
    scope: 'PLAN',
    plan_id: planId,
    credits: '5',
    cadence: 'ONETIME',
  }),
);

const source = after(
  plan({ description: 'All', display_order: 4, metadata: { tier: 'gold', region: 'eu' } }),
  prices(
    draft({ lookup_key: 'monthly', display_name: 'First' }),
    draft({ end_date: '2030-01-01T00:00:00Z', display_name: 'Second' }),
    draft({ start_date: '2029-01-01T00:00:00Z', display_name: 'Third' }),
  ),
  entitlements(
    grant({ usage_limit: 7, parent_entitlement_id: 'ent_00' }),
    grant({ feature_id: 'feat_02' }),
  ),
  credits,
);

const cloned = (request: object = {}, from: Offer = source): Offer => {
  const events = clonePlan(cloneId, from, requestOf(request))(null, instantAfter(100));
  const state = folded(offer, events);
  assert.ok(state);
  return state;
};

test('has all that is in use, under new ids', () => {
  const { prices: copies, entitlements: granted, credit_grants } = cloned();
  assert.equal(
    copies.map(({ display_name }) => display_name),
    ['First', 'Second', 'Third'],
  );
  assert.equal(
    copies.map(({ start_date, end_date }) => [start_date, end_date]),
    source.prices.map(({ start_date, end_date }) => [start_date, end_date]),
  );
  assert.equal(
    granted.map(({ feature_id, usage_limit }) => [feature_id, usage_limit]),
    [
      ['feat_01', 7],
      ['feat_02', null],
    ],
  );
  assert.is(credit_grants[0]?.credits, '5');
  const idsOf = ({ prices, entitlements, credit_grants }: Offer) =>
    [...prices, ...entitlements, ...credit_grants].map(({ id }) => id);
  const ids = [...idsOf(source), ...idsOf(cloned())];
  assert.is(new Set(ids).size, 12);
  const owners = [...copies, ...granted, ...credit_grants].map(({ entity_id }) => entity_id);
  assert.equal(new Set(owners), new Set([cloneId]));
});

test('keys and parents stay with the source', () => {
  const keys = cloned().prices.map(({ lookup_key, parent_price_id }) => [
    lookup_key,
    parent_price_id,
  ]);
  assert.equal(keys, [
    [null, null],
    [null, null],
    [null, null],
  ]);
  assert.is(source.entitlements[0]?.parent_entitlement_id, 'ent_00');
  assert.ok(cloned().entitlements.every((copy) => copy.parent_entitlement_id === null));
});

test('what has ended or is deleted is not copied', () => {
  const [price] = source.prices;
  const [entitlement] = source.entitlements;
  const [creditGrant] = source.credit_grants;
  assert.ok(price && entitlement && creditGrant);
  const less = after(
    plan(),
    prices(draft(), draft()),
    entitlements(grant({})),
    credits,
    (state, at) => endPrice(state?.prices[0]?.id ?? price.id, null)(state, at),
    (state, at) => deleteEntitlement(state?.entitlements[0]?.id ?? entitlement.id)(state, at),
    (state, at) => endCreditGrant(state?.credit_grants[0]?.id ?? creditGrant.id, null)(state, at),
  );
  const copy = cloned({}, less);
  assert.equal(
    [copy.prices.length, copy.entitlements.length, copy.credit_grants.length],
    [1, 0, 0],
  );
});

test('a price that another one follows later is copied with it, at the same dates', () => {
  const later = '2030-01-01T00:00:00.000Z';
  const dearer = updatePriceSchema.parse({ amount: '12', effective_from: later });
  const repriced = after(plan(), prices(draft({ lookup_key: 'monthly' })), (state, at) => {
    const price = state?.prices[0];
    assert.ok(price);
    return updatePrice(price.id, dearer)(state, at);
  });
  const copies = cloned({}, repriced).prices;
  assert.equal(
    copies.map(({ amount, end_date, lookup_key }) => [amount, end_date, lookup_key]),
    [
      ['10', later, null],
      ['12', null, null],
    ],
  );
});

test('a price that was deleted before it began is not copied', () => {
  const begins = draft({ start_date: '2030-01-01T00:00:00Z' });
  const never = after(plan(), prices(begins), (state, at) => {
    const price = state?.prices[0];
    assert.ok(price);
    return endPrice(price.id, null)(state, at);
  });
  assert.equal(cloned({}, never).prices, []);
});

test('an archived plan can be cloned with what it had', () => {
  const archived = after(plan(), prices(draft()), entitlements(grant({})), archivePlan(planId));
  const copy = cloned({}, archived);
  assert.equal(
    [copy.prices[0]?.status, copy.entitlements[0]?.status, planOf(copy)?.status],
    ['published', 'published', 'published'],
  );
});

test('takes over what the request leaves out, and names its source', () => {
  const { description, display_order, metadata, lookup_key } = planOf(cloned()) ?? {};
  assert.equal([description, display_order, lookup_key], ['All', 4, 'pro-2']);
  assert.equal(metadata, { tier: 'gold', region: 'eu', source_plan_id: planId });
  const other = { description: '', display_order: 0, metadata: { tier: 'x', source_plan_id: 'y' } };
  const changed = planOf(cloned(other));
  assert.equal([changed?.description, changed?.display_order], [null, 0]);
  assert.equal(changed?.metadata, { tier: 'x', region: 'eu', source_plan_id: planId });
});

test('needs a name of its own', () => {
  for (const name of ['Pro', ' Pro ']) {
    given(offer, [])
      .when(clonePlan(cloneId, source, requestOf({ name })))
      .thenProblem('validation_error', '/name');
  }
  assert.is(planOf(cloned({ name: 'pro' }))?.name, 'pro');
});

test('metadata that grow too large are refused', () => {
  const pairs = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, 'x']));
  const full = after(plan({ metadata: pairs(49) }));
  assert.is(Object.keys(planOf(cloned({}, full))?.metadata ?? {}).length, 50);
  const more = () => cloned({ metadata: { another: 'x' } }, full);
  assert.is(problemOf(more).errors?.[0]?.pointer, '/metadata');
});

test.run();

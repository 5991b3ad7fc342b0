import type { EntitlementId } from '@counterfoil/kernel';
import { folded, given, pointersOf, problemOf } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type OfferEvent, offer } from '../offer.ts';
import { after, entitlements, grant, history, instantAfter, plan, planId } from '../test-offers.ts';
import { entitlementView } from '../views.ts';
import { deleteEntitlement, updateEntitlement } from './decisions.ts';
import {
  createBulkEntitlementsSchema,
  createEntitlementSchema,
  entitlementSchema,
  updateEntitlementSchema,
} from './schema.ts';

const test = suite('entitlements of an offer');

const view = (...given: Parameters<typeof grant>) => {
  const [shown] = after(plan(), entitlements(grant(...given))).entitlements.map(entitlementView);
  assert.ok(shown);
  return shown;
};

test('an entitlement is enabled and unlimited unless it says otherwise', () => {
  const shown = view({});
  assert.equal(
    [shown.is_enabled, shown.is_soft_limit, shown.usage_limit, shown.usage_reset_period],
    [true, false, undefined, undefined],
  );
  assert.equal([shown.entity_type, shown.entity_id, shown.plan_id], ['PLAN', planId, planId]);
  assert.equal(entitlementSchema.parse(shown), shown);
});

test('zero is a limit, and false is taken as given', () => {
  const shown = view({ usage_limit: 0, is_enabled: false, usage_reset_period: 'DAILY' });
  assert.equal(
    [shown.usage_limit, shown.is_enabled, shown.usage_reset_period],
    [0, false, 'DAILY'],
  );
});

const misfits: readonly [object, 'metered' | 'boolean' | 'static', string][] = [
  [{ usage_limit: 1 }, 'boolean', '/usage_limit'],
  [{ usage_limit: 0, static_value: 'gold' }, 'static', '/usage_limit'],
  [{}, 'static', '/static_value'],
  [{ static_value: '' }, 'static', '/static_value'],
  [{ static_value: 'gold' }, 'metered', '/static_value'],
  [{ static_value: 'gold' }, 'boolean', '/static_value'],
  [{ feature_type: 'boolean' }, 'metered', '/feature_type'],
];

for (const [request, type, pointer] of misfits) {
  test(`a ${type} feature is not granted with ${JSON.stringify(request)}`, () =>
    assert.is(problemOf(() => grant(request, type)).errors?.[0]?.pointer, pointer));
}

test('what says nothing about a feature without usage is left out', () => {
  const shown = view({ is_soft_limit: true, usage_reset_period: 'MONTHLY' }, 'boolean');
  assert.equal([shown.is_soft_limit, shown.usage_reset_period], [false, undefined]);
});

test('a feature is granted once: the item that is one too many is named', () => {
  const again = () => entitlements(grant({ feature_id: 'feat_02' }), grant({}));
  given(offer, history(plan(), entitlements(grant({}))))
    .when(again())
    .thenProblem('already_exists');
  const problem = problemOf(() =>
    entitlements(
      grant({}),
      grant({ feature_id: 'feat_02' }),
      grant({}),
    )(after(plan()), '2026-01-01T00:00:09.000Z' as never),
  );
  assert.is(problem.details?.index, 2);
});

const begun: readonly OfferEvent[] = history(
  plan(),
  entitlements(
    grant({ usage_limit: 5 }),
    grant({ feature_id: 'feat_02', static_value: 'a' }, 'static'),
  ),
);
const [id = '' as EntitlementId, staticId = '' as EntitlementId] = begun.flatMap((event) =>
  event.type === 'EntitlementCreated' ? [event.data.id] : [],
);
const update = (of: EntitlementId, request: object) =>
  updateEntitlement(of, updateEntitlementSchema.parse(request));

test('an update records what differs; null is unlimited and zero stays zero', () => {
  const updated = (changes: object) => ({
    type: 'EntitlementUpdated' as const,
    data: { id, changes },
  });
  given(offer, begun)
    .when(update(id, { usage_limit: null }))
    .then([updated({ usage_limit: null })]);
  given(offer, begun)
    .when(update(id, { usage_limit: 0, is_enabled: true }))
    .then([updated({ usage_limit: 0 })]);
  given(offer, begun)
    .when(update(id, { usage_limit: 5, is_enabled: null, is_soft_limit: null }))
    .then([]);
  given(offer, begun)
    .when(update(staticId, { static_value: '' }))
    .thenProblem('validation_error', '/static_value');
  given(offer, begun)
    .when(update(staticId, { usage_limit: 3 }))
    .thenProblem('validation_error', '/usage_limit');
});

test('a deleted entitlement is gone, and its feature can be granted again', () => {
  const deleted: OfferEvent = { type: 'EntitlementDeleted', data: { id } };
  given(offer, begun).when(deleteEntitlement(id)).then([deleted]);
  const gone = [...begun, deleted];
  given(offer, gone).when(deleteEntitlement(id)).thenProblem('not_found');
  given(offer, gone)
    .when(update(id, { usage_limit: 1 }))
    .thenProblem('not_found');
  // Even in the instant of the first ones, which is a part of the ids.
  const [again] = entitlements(grant({}))(folded(offer, gone), instantAfter(1));
  assert.ok(again?.type === 'EntitlementCreated');
  assert.not([id, staticId].includes(again.data.id));
});

test('an offer has at most 1,000 entitlements', () => {
  const drafts = Array.from({ length: 1000 }, (_, index) => grant({ feature_id: `feat_${index}` }));
  given(offer, history(plan(), entitlements(...drafts)))
    .when(entitlements(grant({ feature_id: 'feat_one_more' })))
    .thenProblem('invalid_operation');
});

const item = { feature_id: 'feat_1', plan_id: 'plan_1' };
const refused: readonly [object, string][] = [
  [{ plan_id: undefined }, '/entity_id'],
  [{ plan_id: undefined, entity_id: 'plan_1' }, '/entity_type'],
  [{ entity_type: 'PLAN', entity_id: 'plan_2' }, '/plan_id'],
  [{ entity_type: 'ADDON', entity_id: 'plan_1' }, '/entity_type'],
  [{ entity_type: 'COSTSHEET' }, '/entity_type'],
  [{ usage_limit: -1 }, '/usage_limit'],
  [{ usage_limit: 1.5 }, '/usage_limit'],
  [{ usage_reset_period: 'HOURLY' }, '/usage_reset_period'],
  [{ start_date: '2026-01-02T00:00:00Z', end_date: '2026-01-01T00:00:00Z' }, '/end_date'],
  [{ feature_id: '' }, '/feature_id'],
];

for (const [request, pointer] of refused) {
  test(`a request is refused: ${JSON.stringify(request)}`, () => {
    const single = { ...item, feature_type: 'metered', ...request };
    assert.equal(pointersOf(createEntitlementSchema, single), [pointer]);
    const bulk = { items: [item, { ...item, ...request }] };
    assert.equal(pointersOf(createBulkEntitlementsSchema, bulk), [`/items/1${pointer}`]);
  });
}

test('the type of the feature may be left out in bulk only, and 1 to 100 items are taken', () => {
  assert.equal(pointersOf(createEntitlementSchema, item), ['/feature_type']);
  const many = (length: number) => ({ items: Array.from({ length }, () => item) });
  assert.equal(
    [0, 1, 100, 101].map((length) => pointersOf(createBulkEntitlementsSchema, many(length))),
    [['/items'], [], [], ['/items']],
  );
});

test.run();

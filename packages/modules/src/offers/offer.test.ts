import type { AddonId, CostsheetId } from '@counterfoil/kernel';
import { folded, given, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { addonOf, costsheetOf, type OfferEvent, offer, planOf } from './offer.ts';
import {
  archiveAddon,
  archivePlan,
  createAddon,
  createCostsheet,
  deleteCostsheet,
  updateAddon,
  updateCostsheet,
  updatePlan,
} from './root/decisions.ts';
import {
  addonSchema,
  costsheetSchema,
  createAddonSchema,
  createCostsheetSchema,
  planSchema,
  updateAddonSchema,
  updateCostsheetSchema,
  updatePlanSchema,
} from './root/schema.ts';
import { after, draft, entitlements, grant, history, plan, planId, prices } from './test-offers.ts';
import { addonView, costsheetView, planView, wholePlanView } from './views.ts';

const test = suite('offer');

const addonId = 'addon_01' as AddonId;
const costsheetId = 'cost_01' as CostsheetId;

const created: OfferEvent = {
  type: 'PlanCreated',
  data: {
    id: planId,
    name: 'Pro',
    lookup_key: 'pro',
    description: null,
    display_order: 3,
    metadata: { tier: 'gold' },
  },
};
const createRequest = { lookup_key: 'pro', display_order: 3, metadata: { tier: 'gold' } };
const update = (request: object) => updatePlan(planId, updatePlanSchema.parse(request));

test('a plan is created with what is given; the rest is absent', () => {
  given(offer, []).when(plan(createRequest)).then([created]);
  given(offer, [])
    .when(plan({ lookup_key: '', metadata: null }))
    .thenState((state) => assert.is(planOf(state)?.lookup_key, null));
});

test('an update of a plan records only what differs, and nothing when nothing does', () => {
  given(offer, [created])
    .when(update({ name: 'Pro', description: 'All of it', display_order: null }))
    .then([
      { type: 'PlanUpdated', data: { changes: { description: 'All of it', display_order: null } } },
    ]);
  given(offer, [created])
    .when(update({ name: 'Pro', lookup_key: 'pro', metadata: { tier: 'gold' } }))
    .then([]);
});

test('what does not exist, or is of another kind, cannot be changed', () => {
  given(offer, [])
    .when(update({ name: 'x' }))
    .thenProblem('not_found');
  given(offer, []).when(archivePlan(planId)).thenProblem('not_found');
  given(offer, [created])
    .when(updateAddon(addonId, { name: 'x' } as never))
    .thenProblem('not_found');
  given(offer, [created]).when(deleteCostsheet(costsheetId)).thenProblem('not_found');
});

const busy = history(
  plan(createRequest),
  prices(draft({ lookup_key: 'monthly' }), draft()),
  entitlements(grant({})),
);

test('a plan goes out of use together with what it owns', () => {
  const state = folded(offer, busy);
  const taken = {
    prices: state?.prices.map(({ id }) => id) ?? [],
    entitlements: state?.entitlements.map(({ id }) => id) ?? [],
    credit_grants: [],
  };
  assert.is(taken.prices.length, 2);
  given(offer, busy)
    .when(archivePlan(planId))
    .then([{ type: 'PlanArchived', data: taken }]);
  given(offer, busy)
    .when(archivePlan(planId))
    .thenState((archived) => {
      assert.equal(
        [archived?.root.record, ...(archived?.prices ?? []), ...(archived?.entitlements ?? [])].map(
          (record) => record?.status,
        ),
        ['archived', 'archived', 'archived', 'archived'],
      );
    });
});

test('an archived plan stays as it is, and cannot be changed or given anything', () => {
  const archived = [...busy, ...archivePlan(planId)(folded(offer, busy), stampAt(9).occurred_at)];
  given(offer, archived).when(archivePlan(planId)).then([]);
  given(offer, archived)
    .when(update({ name: 'x' }))
    .thenProblem('invalid_operation');
  given(offer, archived).when(prices(draft())).thenProblem('invalid_operation');
  given(offer, archived)
    .when(entitlements(grant({ feature_id: 'feat_02' })))
    .thenProblem('invalid_operation');
});

const heldAfter = (events: readonly OfferEvent[]) =>
  offer.unique?.(folded(offer, events)).map(({ name, value }) => `${name} ${value}`);

test('an offer holds its key and those of its prices until it goes out of use', () => {
  assert.equal(heldAfter([]), []);
  assert.equal(heldAfter(busy), ['price_lookup_key monthly', 'plan_lookup_key pro']);
  const archive = archivePlan(planId)(folded(offer, busy), stampAt(9).occurred_at);
  assert.equal(heldAfter([...busy, ...archive]), []);
  assert.equal(heldAfter(history(plan())), []);
});

const createdAddon: OfferEvent = {
  type: 'AddonCreated',
  data: { id: addonId, lookup_key: 'seats', name: 'Seats', description: null, metadata: {} },
};

test('an add-on is created, updated and archived', () => {
  const request = createAddonSchema.parse({ name: 'Seats', lookup_key: 'seats' });
  given(offer, []).when(createAddon(addonId, request)).then([createdAddon]);
  const renamed = updateAddonSchema.parse({ name: 'More seats', lookup_key: 'ignored' });
  given(offer, [createdAddon])
    .when(updateAddon(addonId, renamed))
    .then([{ type: 'AddonUpdated', data: { changes: { name: 'More seats' } } }]);
  given(offer, [createdAddon])
    .when(updateAddon(addonId, updateAddonSchema.parse({})))
    .then([]);
  given(offer, [createdAddon])
    .when(archiveAddon(addonId))
    .thenState((state) => assert.is(addonOf(state)?.status, 'archived'));
  assert.equal(heldAfter([createdAddon]), ['addon_lookup_key seats']);
});

const createdCostsheet: OfferEvent = {
  type: 'CostsheetCreated',
  data: { id: costsheetId, name: 'GPU', lookup_key: 'gpu', description: null, metadata: {} },
};

test('a costsheet is created, updated and deleted for good', () => {
  const request = createCostsheetSchema.parse({ name: 'GPU', lookup_key: 'gpu' });
  given(offer, []).when(createCostsheet(costsheetId, request)).then([createdCostsheet]);
  given(offer, [createdCostsheet])
    .when(updateCostsheet(costsheetId, updateCostsheetSchema.parse({ lookup_key: null })))
    .then([{ type: 'CostsheetUpdated', data: { changes: { lookup_key: null } } }]);
  const deleted = deleteCostsheet(costsheetId)(
    folded(offer, [createdCostsheet]),
    stampAt(1).occurred_at,
  );
  const gone = [createdCostsheet, ...deleted];
  assert.is(costsheetOf(folded(offer, gone))?.status, 'deleted');
  given(offer, gone).when(deleteCostsheet(costsheetId)).thenProblem('not_found');
  assert.equal(
    [heldAfter([createdCostsheet]), heldAfter(gone)],
    [['costsheet_lookup_key gpu'], []],
  );
});

test('the views are of the published form and leave out what is absent', () => {
  const view = planView(planOf(folded(offer, [created])));
  assert.equal(view, {
    id: planId,
    status: 'published',
    name: 'Pro',
    lookup_key: 'pro',
    display_order: 3,
    metadata: { tier: 'gold' },
    tenant_id: 'tenant_01',
    environment_id: 'env_01',
    created_at: stampAt(0).occurred_at,
    created_by: 'user_01',
    updated_at: stampAt(0).occurred_at,
    updated_by: 'user_01',
  });
  const addon = addonView(addonOf(folded(offer, [createdAddon])));
  const costsheet = costsheetView(costsheetOf(folded(offer, [createdCostsheet])));
  const whole = wholePlanView(after(plan(), prices(draft()), entitlements(grant({}))));
  assert.equal(addonSchema.parse(addon), addon);
  assert.equal(costsheetSchema.parse(costsheet), costsheet);
  assert.equal(planSchema.parse(whole), whole);
});

test.run();

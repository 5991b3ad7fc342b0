import type { FeatureId, MeterId } from '@counterfoil/kernel';
import { folded, given, pointersOf, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  archiveFeature,
  createFeature,
  type FeatureData,
  type FeatureEvent,
  feature,
  featureView,
  updateFeature,
} from './feature.ts';
import { createFeatureSchema, featureSchema, updateFeatureSchema } from './schema.ts';

const test = suite('feature');

const id = 'feat_01' as FeatureId;
const data: FeatureData = {
  id,
  name: 'Tokens',
  type: 'metered',
  lookup_key: 'tokens',
  description: null,
  meter_id: 'meter_01' as MeterId,
  group_id: null,
  unit_singular: 'token',
  unit_plural: 'tokens',
  reporting_unit: null,
  alert_settings: null,
  metadata: {},
};
const created: FeatureEvent = { type: 'FeatureCreated', data };
const archived: FeatureEvent = { type: 'FeatureArchived', data: {} };
const update = (body: object) => updateFeature(id, updateFeatureSchema.parse(body));
const updated = (changes: object): FeatureEvent => ({ type: 'FeatureUpdated', data: changes });

test('is created with what was decided', () => {
  given(feature, []).when(createFeature(data)).then([created]);
});

test('one unit needs the other, at creation and after an update', () => {
  given(feature, [])
    .when(createFeature({ ...data, unit_plural: null }))
    .thenProblem('validation_error', '/unit_plural');
  given(feature, [])
    .when(createFeature({ ...data, unit_singular: null }))
    .thenProblem('validation_error', '/unit_singular');
  given(feature, [created])
    .when(update({ unit_plural: '' }))
    .thenProblem('validation_error', '/unit_plural');
  given(feature, [created])
    .when(update({ unit_plural: '', unit_singular: null }))
    .then([updated({ unit_singular: null, unit_plural: null })]);
});

test('an update records only what differs', () => {
  given(feature, [created])
    .when(update({ name: 'Tokens', description: 'All of them', metadata: {} }))
    .then([updated({ description: 'All of them' })]);
  for (const same of [{}, { name: 'Tokens' }, { group_id: '' }, { filters: [] }]) {
    given(feature, [created]).when(update(same)).then([]);
  }
});

test('type, key and meter are for ever', () => {
  const other = { type: 'boolean', lookup_key: 'x', meter_id: 'meter_02' };
  given(feature, [created]).when(update(other)).then([]);
});

const level = (threshold: string) => ({ threshold, condition: 'below' as const });

test('alert levels merge one by one, and the result must be consistent', () => {
  const alerting = updated({ alert_settings: { alert_enabled: true, critical: level('10') } });
  given(feature, [created])
    .when(update({ alert_settings: { critical: { threshold: 10 } } }))
    .then([alerting]);
  given(feature, [created, alerting])
    .when(update({ alert_settings: { warning: { threshold: 20 } } }))
    .thenState((state) =>
      assert.equal(state?.alert_settings, {
        alert_enabled: true,
        critical: level('10'),
        warning: level('20'),
      }),
    );
  given(feature, [created, alerting])
    .when(update({ alert_settings: { warning: { threshold: 5 } } }))
    .thenProblem('validation_error', '/alert_settings/warning/threshold');
  given(feature, [created, alerting])
    .when(update({ alert_settings: { critical: null } }))
    .thenProblem('validation_error', '/alert_settings');
  given(feature, [created, alerting])
    .when(update({ alert_settings: null }))
    .then([updated({ alert_settings: null })]);
  given(feature, [created, alerting])
    .when(update({ alert_settings: { alert_enabled: false, critical: null } }))
    .thenState((state) => assert.is(featureView(state).alert_settings?.alert_enabled, false));
});

test('deleting archives; an archived feature is not writable', () => {
  given(feature, [created]).when(archiveFeature(id)).then([archived]);
  given(feature, [created, archived]).when(archiveFeature(id)).then([]);
  given(feature, [created, archived])
    .when(update({ name: 'x' }))
    .thenProblem('invalid_operation');
  given(feature, []).when(archiveFeature(id)).thenProblem('not_found');
});

test('holds its lookup_key, if it has one, until it is archived', () => {
  const heldAfter = (events: readonly FeatureEvent[]) =>
    feature.unique?.(folded(feature, events)).map(({ name, value }) => `${name} ${value}`);
  assert.equal(heldAfter([created]), ['lookup_key tokens']);
  assert.equal(heldAfter([{ type: 'FeatureCreated', data: { ...data, lookup_key: null } }]), []);
  assert.equal(heldAfter([created, archived]), []);
});

test('the view has figures as numbers and leaves out what is absent', () => {
  const unit = { conversion_rate: 0.001, unit_singular: 'k', unit_plural: 'k' };
  const [changed] = update({
    reporting_unit: unit,
    alert_settings: { critical: { threshold: '1.5' } },
  })(folded(feature, [created]), stampAt(1).occurred_at);
  assert.ok(changed?.type === 'FeatureUpdated');
  assert.is(changed.data.reporting_unit?.conversion_rate, '0.001');
  const view = featureView(folded(feature, [created, changed]));
  assert.equal(featureSchema.parse(view), view);
  assert.equal(view.reporting_unit, unit);
  assert.equal(view.alert_settings?.critical, { threshold: 1.5, condition: 'below' });
  assert.not('description' in view);
});

const meter = { name: 'M', event_name: 'e', aggregation: { type: 'COUNT' } };
const metered = { name: 'x', type: 'metered', meter_id: 'meter_01' };

const refused: readonly [object, string][] = [
  [{ name: 'x', type: 'metered' }, '/meter_id'],
  [{ ...metered, meter }, '/meter'],
  [{ name: 'x', type: 'boolean', meter }, '/meter'],
  [{ name: 'x', type: 'static', meter_id: 'meter_01' }, '/meter_id'],
  [{ name: 'x', type: 'config' }, '/type'],
  [{ ...metered, name: ' ' }, '/name'],
  [{ ...metered, lookup_key: 'x'.repeat(256) }, '/lookup_key'],
  [
    { name: 'x', type: 'metered', meter: { ...meter, aggregation: { type: 'SUM' } } },
    '/meter/aggregation/field',
  ],
  [
    {
      ...metered,
      reporting_unit: { conversion_rate: 0, unit_singular: 'a', unit_plural: 'b' },
    },
    '/reporting_unit/conversion_rate',
  ],
  [{ ...metered, reporting_unit: { conversion_rate: 1 } }, '/reporting_unit/unit_singular'],
];

for (const [body, pointer] of refused) {
  test(`refuses ${JSON.stringify(body).slice(0, 100)}`, () =>
    assert.ok(pointersOf(createFeatureSchema, body).includes(pointer)));
}

test('takes each type with and without what belongs to it', () => {
  for (const body of [
    metered,
    { name: 'x', type: 'metered', meter, meter_id: '' },
    { name: 'x', type: 'boolean', meter: null, meter_id: null, group_id: null },
    { name: 'x', type: 'static', unit_singular: '', lookup_key: '' },
  ]) {
    assert.equal(pointersOf(createFeatureSchema, body), []);
  }
});

test.run();

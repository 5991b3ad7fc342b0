import type { TaxAssociationId, TaxRateId } from '@counterfoil/kernel';
import { folded, given, pointersOf } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  associationSchema,
  createAssociationSchema,
  updateAssociationSchema,
} from './association-schema.ts';
import {
  type AssociationData,
  associationView,
  createAssociation,
  deleteAssociation,
  type TaxAssociationEvent,
  taxAssociation,
  updateAssociation,
} from './tax-association.ts';

const test = suite('tax association');

const id = 'ta_01' as TaxAssociationId;
const data: AssociationData = {
  id,
  tax_rate_id: 'taxrate_01' as TaxRateId,
  entity_type: 'customer',
  entity_id: 'cust_01',
  currency: null,
  start_date: null,
  end_date: null,
  priority: 0,
  auto_apply: true,
  metadata: {},
};
const created: TaxAssociationEvent = { type: 'TaxAssociationCreated', data };
const removed: TaxAssociationEvent = { type: 'TaxAssociationDeleted', data: {} };
const update = (body: object) => updateAssociation(id, updateAssociationSchema.parse(body));

test('is created, changed and deleted once', () => {
  given(taxAssociation, []).when(createAssociation(data)).then([created]);
  given(taxAssociation, [created])
    .when(update({ priority: 5, auto_apply: true }))
    .then([{ type: 'TaxAssociationUpdated', data: { priority: 5 } }]);
  given(taxAssociation, [created]).when(update({})).then([]);
  given(taxAssociation, [created]).when(deleteAssociation(id)).then([removed]);
  for (const past of [[], [created, removed]]) {
    given(taxAssociation, past).when(deleteAssociation(id)).thenProblem('not_found');
    given(taxAssociation, past)
      .when(update({ priority: 1 }))
      .thenProblem('not_found');
  }
});

test('holds its entity, rate and currency until it is deleted', () => {
  const heldAfter = (events: readonly TaxAssociationEvent[]) =>
    taxAssociation.unique?.(folded(taxAssociation, events)).map(({ value }) => value);
  assert.equal(heldAfter([created]), ['customer/cust_01/taxrate_01/any']);
  const inDollars: TaxAssociationEvent = {
    type: 'TaxAssociationCreated',
    data: { ...data, currency: 'usd' },
  };
  assert.equal(heldAfter([inDollars]), ['customer/cust_01/taxrate_01/usd']);
  assert.equal(heldAfter([created, removed]), []);
});

test('the view leaves out what is absent', () => {
  const view = associationView(folded(taxAssociation, [created]));
  assert.equal(associationSchema.parse(view), view);
  assert.not('currency' in view);
});

const valid = { tax_rate_code: 'vat', entity_type: 'customer', entity_id: 'cust_01' };

const refused: readonly [object, string][] = [
  [{ entity_type: 'customer' }, '/tax_rate_code'],
  [{ ...valid, entity_type: 'CUSTOMER' }, '/entity_type'],
  [{ ...valid, priority: -1 }, '/priority'],
  [{ ...valid, priority: 1.5 }, '/priority'],
  [{ ...valid, currency: 'zzz' }, '/currency'],
  [{ ...valid, start_date: '2026-01-02T00:00:00Z', end_date: '2026-01-02T00:00:00Z' }, '/end_date'],
];

for (const [body, pointer] of refused) {
  test(`refuses ${JSON.stringify(body).slice(0, 110)}`, () =>
    assert.ok(pointersOf(createAssociationSchema, body).includes(pointer)));
}

test.run();

import type { TaxRateId } from '@counterfoil/kernel';
import { folded, given, pointersOf, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createTaxRateSchema, taxRateSchema, updateTaxRateSchema } from './rate-schema.ts';
import {
  archiveTaxRate,
  createTaxRate,
  type TaxRateEvent,
  taxRate,
  taxRateView,
  updateTaxRate,
} from './tax-rate.ts';

const test = suite('tax rate');

const id = 'taxrate_01' as TaxRateId;
const vat = { name: 'VAT', code: 'DE-VAT', percentage_value: 19 };
const create = (body: object) => createTaxRate(id, createTaxRateSchema.parse(body));
const createdFrom = (body: object): TaxRateEvent => {
  const [event] = create(body)(null, stampAt(0).occurred_at);
  assert.ok(event);
  return event;
};
const archived: TaxRateEvent = { type: 'TaxRateArchived', data: {} };
const update = (body: object) => updateTaxRate(id, updateTaxRateSchema.parse(body));

test('is a percentage or fixed, as its value says', () => {
  const taxOf = (body: object) => {
    const event = createdFrom({ name: 'x', code: 'x', ...body });
    assert.ok(event.type === 'TaxRateCreated');
    return event.data.tax;
  };
  const percentage = { tax_rate_type: 'percentage', percentage_value: '19' };
  const fixed = { tax_rate_type: 'fixed', fixed_value: '0' };
  assert.equal(taxOf({ percentage_value: '19' }), percentage);
  assert.equal(taxOf({ tax_rate_type: 'percentage', percentage_value: 19 }), percentage);
  assert.equal(taxOf({ fixed_value: 0 }), fixed);
  assert.equal(taxOf({ tax_rate_type: 'fixed', fixed_value: '0', percentage_value: null }), fixed);
});

test('the view is flat; a new rate is active', () => {
  const view = taxRateView(folded(taxRate, [createdFrom(vat)]));
  assert.equal(taxRateSchema.parse(view), view);
  assert.equal(
    [view.tax_rate_status, view.scope, view.percentage_value, 'fixed_value' in view],
    ['ACTIVE', 'INTERNAL', '19', false],
  );
});

test('an update records only what differs, and never how much it is', () => {
  const created = createdFrom(vat);
  given(taxRate, [created])
    .when(update({ code: 'DE', name: 'VAT', tax_rate_status: 'INACTIVE', percentage_value: 20 }))
    .then([{ type: 'TaxRateUpdated', data: { code: 'DE', tax_rate_status: 'INACTIVE' } }]);
  for (const same of [{}, { name: 'VAT' }, { metadata: null }, { description: '' }]) {
    given(taxRate, [created]).when(update(same)).then([]);
  }
});

test('deleting archives; an archived rate is not writable', () => {
  const created = createdFrom(vat);
  given(taxRate, [created]).when(archiveTaxRate(id)).then([archived]);
  given(taxRate, [created, archived]).when(archiveTaxRate(id)).then([]);
  given(taxRate, [created, archived])
    .when(update({ name: 'x' }))
    .thenProblem('invalid_operation');
  given(taxRate, []).when(archiveTaxRate(id)).thenProblem('not_found');
});

test('holds its code whatever the case, until it changes or is archived', () => {
  const heldAfter = (events: readonly TaxRateEvent[]) =>
    taxRate.unique?.(folded(taxRate, events)).map(({ name, value }) => `${name} ${value}`);
  const created = createdFrom(vat);
  const renamed: TaxRateEvent = { type: 'TaxRateUpdated', data: { code: 'AT-VAT' } };
  assert.equal(heldAfter([created]), ['code de-vat']);
  assert.equal(heldAfter([created, renamed]), ['code at-vat']);
  assert.equal(heldAfter([created, archived]), []);
});

const refused: readonly [object, string][] = [
  [{ ...vat, percentage_value: undefined }, '/percentage_value'],
  [{ ...vat, percentage_value: '100.0000000001' }, '/percentage_value'],
  [{ ...vat, percentage_value: -1 }, '/percentage_value'],
  [{ ...vat, fixed_value: 1 }, '/fixed_value'],
  [{ name: 'x', code: 'x', tax_rate_type: 'fixed' }, '/fixed_value'],
  [{ name: 'x', code: 'x', tax_rate_type: 'percentage', fixed_value: 1 }, '/percentage_value'],
  [{ name: 'x', code: 'x', fixed_value: '0.0000000001' }, '/fixed_value'],
  [{ ...vat, tax_rate_type: 'flat' }, '/tax_rate_type'],
  [{ ...vat, scope: 'internal' }, '/scope'],
  [{ ...vat, code: ' ' }, '/code'],
  [{ ...vat, code: 'x'.repeat(65) }, '/code'],
];

for (const [body, pointer] of refused) {
  test(`refuses ${JSON.stringify(body).slice(0, 110)}`, () =>
    assert.ok(pointersOf(createTaxRateSchema, body).includes(pointer)));
}

test.run();

import type { PriceUnitId } from '@counterfoil/kernel';
import { folded, given, pointersOf, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  archivePriceUnit,
  createPriceUnit,
  type PriceUnitEvent,
  priceUnit,
  priceUnitView,
  updatePriceUnit,
} from './price-unit.ts';
import { createPriceUnitSchema, priceUnitSchema, updatePriceUnitSchema } from './schema.ts';

const test = suite('pricing unit');

const id = 'price_unit_01' as PriceUnitId;
const valid = {
  code: 'CRD',
  name: 'Credits',
  symbol: 'cr',
  base_currency: 'USD',
  conversion_rate: 0.01,
};
const request = createPriceUnitSchema.parse(valid);
const created: PriceUnitEvent = { type: 'PriceUnitCreated', data: { id, ...request } };
const archived: PriceUnitEvent = { type: 'PriceUnitArchived', data: {} };
const update = (body: object) => updatePriceUnit(id, updatePriceUnitSchema.parse(body));

test('is created with an exact rate and a currency in lower case', () => {
  given(priceUnit, []).when(createPriceUnit(id, request)).then([created]);
  assert.equal([request.conversion_rate, request.base_currency], ['0.01', 'usd']);
});

test('an update records only what differs', () => {
  given(priceUnit, [created])
    .when(update({ name: 'Tokens', metadata: {} }))
    .then([{ type: 'PriceUnitUpdated', data: { name: 'Tokens' } }]);
  given(priceUnit, [created])
    .when(update({ metadata: { a: 'b' } }))
    .thenState((state) => assert.equal(state?.metadata, { a: 'b' }));
  for (const same of [{}, { name: 'Credits' }, { metadata: null }]) {
    given(priceUnit, [created]).when(update(same)).then([]);
  }
});

test('code, symbol, currency and rate are for ever', () => {
  const other = { code: 'X', symbol: 'x', base_currency: 'eur', conversion_rate: '9' };
  given(priceUnit, [created]).when(update(other)).then([]);
});

test('deleting archives; an archived unit is not writable', () => {
  given(priceUnit, [created]).when(archivePriceUnit(id)).then([archived]);
  given(priceUnit, [created, archived]).when(archivePriceUnit(id)).then([]);
  given(priceUnit, [created, archived])
    .when(update({ name: 'x' }))
    .thenProblem('invalid_operation');
  given(priceUnit, [])
    .when(update({ name: 'x' }))
    .thenProblem('not_found');
});

test('holds its code whatever the case, until it is archived', () => {
  const heldAfter = (events: readonly PriceUnitEvent[]) =>
    priceUnit.unique?.(folded(priceUnit, events)).map(({ name, value }) => `${name} ${value}`);
  assert.equal(heldAfter([created]), ['code crd']);
  assert.equal(heldAfter([created, archived]), []);
});

test('the view is of the published form', () => {
  const view = priceUnitView(folded(priceUnit, [created, archived]));
  assert.equal(priceUnitSchema.parse(view), view);
  assert.equal([view.code, view.updated_at], ['CRD', stampAt(1).occurred_at]);
});

const refused: readonly [object, string][] = [
  [{ ...valid, code: '' }, '/code'],
  [{ ...valid, code: 'a b' }, '/code'],
  [{ ...valid, code: 'x'.repeat(33) }, '/code'],
  [{ ...valid, symbol: 'x'.repeat(11) }, '/symbol'],
  [{ ...valid, name: ' ' }, '/name'],
  [{ ...valid, base_currency: 'zzz' }, '/base_currency'],
  [{ ...valid, conversion_rate: '0' }, '/conversion_rate'],
  [{ ...valid, conversion_rate: '0.00000000001' }, '/conversion_rate'],
];

for (const [body, pointer] of refused) {
  test(`refuses ${JSON.stringify(body).slice(0, 90)}`, () =>
    assert.ok(pointersOf(createPriceUnitSchema, body).includes(pointer)));
}

test('an update refuses an empty name', () => {
  assert.ok(pointersOf(updatePriceUnitSchema, { name: '' }).includes('/name'));
});

test.run();

import type { CouponId } from '@counterfoil/kernel';
import { folded, given, pointersOf, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  archiveCoupon,
  type CouponEvent,
  coupon,
  couponView,
  createCoupon,
  updateCoupon,
} from './coupon.ts';
import { couponSchema, createCouponSchema, updateCouponSchema } from './schema.ts';

const test = suite('coupon');

const id = 'coupon_01' as CouponId;
const fixed = { name: 'Ten', type: 'fixed', amount_off: 10, currency: 'USD', cadence: 'once' };
const percentage = { name: 'P', type: 'percentage', percentage_off: '12.5', cadence: 'forever' };
const create = (body: object) => createCoupon(id, createCouponSchema.parse(body));

const createdFrom = (body: object): CouponEvent => {
  const [event] = create(body)(null, stampAt(0).occurred_at);
  assert.ok(event);
  return event;
};
const archived: CouponEvent = { type: 'CouponArchived', data: {} };
const update = (body: object) => updateCoupon(id, updateCouponSchema.parse(body));

test('a discount is an amount of a currency, or a percentage', () => {
  given(coupon, [])
    .when(create(fixed))
    .thenState((state) => {
      assert.equal(state?.discount, { type: 'fixed', amount_off: '10', currency: 'usd' });
      assert.equal(state?.repetition, { cadence: 'once' });
      assert.is(state?.total_redemptions, 0);
    });
  given(coupon, [])
    .when(create({ ...percentage, cadence: 'repeated', duration_in_periods: 3 }))
    .thenState((state) => {
      assert.equal(state?.discount, { type: 'percentage', percentage_off: '12.5' });
      assert.equal(state?.repetition, { cadence: 'repeated', duration_in_periods: 3 });
    });
});

test('the view is flat and leaves out what is absent', () => {
  const event = createdFrom({
    ...fixed,
    rules: { plans: ['a', 1.5] },
    redeem_after: '2026-01-01T00:00:00Z',
  });
  const view = couponView(folded(coupon, [event]));
  assert.equal(couponSchema.parse(view), view);
  assert.equal(view, {
    id,
    status: 'published',
    name: 'Ten',
    type: 'fixed',
    amount_off: '10',
    currency: 'usd',
    cadence: 'once',
    total_redemptions: 0,
    redeem_after: stampAt(0).occurred_at,
    rules: { plans: ['a', 1.5] },
    metadata: {},
    tenant_id: 'tenant_01',
    environment_id: 'env_01',
    created_at: stampAt(0).occurred_at,
    created_by: 'user_01',
    updated_at: stampAt(0).occurred_at,
    updated_by: 'user_01',
  });
});

test('an update records only what differs, and never what is taken off', () => {
  const created = createdFrom(fixed);
  given(coupon, [created])
    .when(update({ name: 'Eleven', metadata: {}, amount_off: 11 }))
    .then([{ type: 'CouponUpdated', data: { name: 'Eleven' } }]);
  for (const same of [{}, { name: 'Ten' }, { metadata: null }]) {
    given(coupon, [created]).when(update(same)).then([]);
  }
});

test('deleting archives; an archived coupon is not writable', () => {
  const created = createdFrom(fixed);
  given(coupon, [created]).when(archiveCoupon(id)).then([archived]);
  given(coupon, [created, archived]).when(archiveCoupon(id)).then([]);
  given(coupon, [created, archived])
    .when(update({ name: 'x' }))
    .thenProblem('invalid_operation');
  given(coupon, []).when(archiveCoupon(id)).thenProblem('not_found');
});

test('holds its code whatever the case, if it has one, until it is archived', () => {
  const heldAfter = (events: readonly CouponEvent[]) =>
    coupon.unique?.(folded(coupon, events)).map(({ name, value }) => `${name} ${value}`);
  const created = createdFrom({ ...fixed, coupon_code: 'TEN' });
  assert.equal(heldAfter([created]), ['coupon_code ten']);
  assert.equal(heldAfter([createdFrom(fixed)]), []);
  assert.equal(heldAfter([created, archived]), []);
});

const refused: readonly [object, string][] = [
  [{ ...fixed, amount_off: null }, '/amount_off'],
  [{ ...fixed, amount_off: 0 }, '/amount_off'],
  [{ ...fixed, amount_off: '-1' }, '/amount_off'],
  [{ ...fixed, currency: undefined }, '/currency'],
  [{ ...fixed, currency: 'zzz' }, '/currency'],
  [{ ...fixed, amount_off: '10.001' }, '/amount_off'],
  [{ ...fixed, amount_off: '0.5', currency: 'jpy' }, '/amount_off'],
  [{ ...fixed, percentage_off: 5 }, '/percentage_off'],
  [{ ...percentage, percentage_off: undefined }, '/percentage_off'],
  [{ ...percentage, percentage_off: 0 }, '/percentage_off'],
  [{ ...percentage, percentage_off: '100.0000000001' }, '/percentage_off'],
  [{ ...percentage, amount_off: 5 }, '/amount_off'],
  [{ ...percentage, currency: 'usd' }, '/currency'],
  [{ ...percentage, type: 'free' }, '/type'],
  [{ ...percentage, cadence: 'yearly' }, '/cadence'],
  [{ ...percentage, cadence: 'repeated' }, '/duration_in_periods'],
  [{ ...percentage, cadence: 'repeated', duration_in_periods: 0 }, '/duration_in_periods'],
  [{ ...percentage, duration_in_periods: 2 }, '/duration_in_periods'],
  [{ ...percentage, max_redemptions: 0 }, '/max_redemptions'],
  [{ ...percentage, max_redemptions: 1_000_001 }, '/max_redemptions'],
  [{ ...percentage, coupon_code: ' ' }, '/coupon_code'],
  [{ ...percentage, rules: { a: 'x'.repeat(16_384) } }, '/rules'],
  [{ ...percentage, rules: [] }, '/rules'],
  [
    { ...percentage, redeem_after: '2026-01-02T00:00:00Z', redeem_before: '2026-01-02T00:00:00Z' },
    '/redeem_before',
  ],
];

for (const [body, pointer] of refused) {
  test(`refuses ${JSON.stringify(body).slice(0, 110)}`, () =>
    assert.equal(pointersOf(createCouponSchema, body), [pointer]));
}

test('takes the borders', () => {
  for (const body of [
    { ...percentage, percentage_off: 100, max_redemptions: 1_000_000, duration_in_periods: null },
    { ...percentage, percentage_off: '0.0000000001', coupon_code: 'x'.repeat(64) },
    { ...fixed, amount_off: '0.01', percentage_off: null },
    { ...fixed, amount_off: '1', currency: 'jpy' },
    { ...fixed, cadence: 'repeated', duration_in_periods: 1_000 },
  ]) {
    assert.equal(pointersOf(createCouponSchema, body), []);
  }
});

test.run();

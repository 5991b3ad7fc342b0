import type { CreditGrantId, Instant } from '@counterfoil/kernel';
import { given, pointersOf, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { offer } from '../offer.ts';
import { after, history, owner, plan, planId } from '../test-offers.ts';
import { creditGrantView } from '../views.ts';
import { createCreditGrant, endCreditGrant, updateCreditGrant } from './decisions.ts';
import { createCreditGrantSchema, creditGrantSchema, updateCreditGrantSchema } from './schema.ts';

const test = suite('credit grants of an offer');

const valid = {
  name: 'Monthly credits',
  scope: 'PLAN',
  plan_id: planId,
  credits: '100.5',
  cadence: 'RECURRING',
  period: 'MONTHLY',
};
const create = (request: object = {}) =>
  createCreditGrant(owner, 'plan_id', createCreditGrantSchema.parse({ ...valid, ...request }));

test('a grant is a template of its plan', () => {
  const [grant] = after(plan(), create()).credit_grants.map(creditGrantView);
  assert.ok(grant);
  assert.equal(
    [grant.scope, grant.plan_id, grant.credits, grant.period, grant.period_count],
    ['PLAN', planId, '100.5', 'MONTHLY', 1],
  );
  assert.is(grant.expiration_type, 'NEVER');
  assert.equal(creditGrantSchema.parse(grant), grant);
});

test('all grants of an offer are worth the same', () => {
  const begun = history(plan(), create({ conversion_rate: '0.01' }));
  given(offer, begun).when(create()).thenProblem('validation_error', '/conversion_rate');
  given(offer, begun)
    .when(create({ conversion_rate: '0.01', topup_conversion_rate: '1' }))
    .thenProblem('validation_error', '/topup_conversion_rate');
  given(offer, begun)
    .when(create({ conversion_rate: 0.01 }))
    .thenState((state) => assert.is(state?.credit_grants.length, 2));
});

const begun = history(plan(), create());
const id = begun.flatMap((event) =>
  event.type === 'CreditGrantCreated' ? [event.data.id] : [],
)[0] as CreditGrantId;
const update = (request: object) => updateCreditGrant(id, updateCreditGrantSchema.parse(request));

test('its name and metadata change, nothing else', () => {
  given(offer, begun)
    .when(update({ name: 'Credits', metadata: { a: 'b' }, credits: '5' }))
    .then([
      {
        type: 'CreditGrantUpdated',
        data: { id, changes: { name: 'Credits', metadata: { a: 'b' } } },
      },
    ]);
  given(offer, begun)
    .when(update({ name: 'Monthly credits' }))
    .then([]);
  given(offer, begun)
    .when(update({ end_date: '2030-01-01T00:00:00Z' }))
    .thenProblem('validation_error', '/end_date');
});

test('it stops at once and is archived, or later and stays until then', () => {
  const now = stampAt(begun.length).occurred_at;
  const later = '2030-01-01T00:00:00.000Z' as Instant;
  const ended = (end_date: Instant, status: 'archived' | 'published') => ({
    type: 'CreditGrantEnded' as const,
    data: { id, end_date, status },
  });
  given(offer, begun)
    .when(endCreditGrant(id, null))
    .then([ended(now, 'archived')]);
  given(offer, begun)
    .when(endCreditGrant(id, later))
    .then([ended(later, 'published')]);
  const scheduled = [...begun, ended(later, 'published')];
  given(offer, scheduled).when(endCreditGrant(id, later)).then([]);
  given(offer, [...begun, ended(now, 'archived')])
    .when(endCreditGrant(id, null))
    .thenProblem('invalid_operation');
  given(offer, begun)
    .when(endCreditGrant('cg_x' as CreditGrantId, null))
    .thenProblem('not_found');
});

test('an offer has at most 100 credit grants', () => {
  const full = history(plan(), ...Array.from({ length: 100 }, () => create()));
  given(offer, full).when(create()).thenProblem('invalid_operation');
});

const refused: readonly [object, string][] = [
  [{ plan_id: undefined }, '/plan_id'],
  [{ scope: 'ADDON' }, '/addon_id'],
  [{ scope: 'SUBSCRIPTION' }, '/subscription_id'],
  [{ credits: '0' }, '/credits'],
  [{ credits: '0.0000000001' }, '/credits'],
  [{ period: undefined }, '/period'],
  [{ cadence: 'ONETIME' }, '/period'],
  [{ cadence: 'ONETIME', period: null, period_count: 2 }, '/period_count'],
  [{ period_count: 0 }, '/period_count'],
  [{ expiration_type: 'DURATION', expiration_duration: 3 }, '/expiration_duration_unit'],
  [{ expiration_duration: 3 }, '/expiration_duration'],
  [{ start_date: '2026-01-01T00:00:00Z' }, '/start_date'],
  [{ end_date: '2026-01-01T00:00:00Z' }, '/end_date'],
  [{ conversion_rate: '0' }, '/conversion_rate'],
];

test('a unit without a duration, as clients of the public contract send it, is not kept', () => {
  const body = { ...valid, expiration_type: 'NEVER', expiration_duration_unit: 'DAY' };
  assert.equal(pointersOf(createCreditGrantSchema, body), []);
});

for (const [request, pointer] of refused) {
  test(`a request is refused: ${JSON.stringify(request)}`, () =>
    assert.equal(pointersOf(createCreditGrantSchema, { ...valid, ...request }), [pointer]));
}

test.run();

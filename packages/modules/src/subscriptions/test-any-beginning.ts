// biome-ignore-all lint/correctness/noUndeclaredDependencies: only tests import this file.
// Subscriptions that begin with anything that one can be sold with.
import { type Instant, shiftedBy } from '@counterfoil/kernel';
import fc from 'fast-check';
import { coupons } from '../coupons/index.ts';
import { customers } from '../customers/index.ts';
import { offers } from '../offers/index.ts';
import { soldAddon } from './test-sold-addon.ts';
import { day, subscriptionWorld } from './test-subscription-world.ts';

export const anyBeginning = fc.record({
  billing_cycle: fc.constantFrom('anniversary', 'calendar'),
  proration_behavior: fc.constantFrom('create_prorations', 'none'),
  trial_period_days: fc.constantFrom(0, 0, 10, 60),
  /** Days from the start of the year. */
  start: fc.integer({ min: -100, max: 10 }),
  /** Days until it ends. */
  ends: fc.option(fc.integer({ min: 10, max: 200 })),
  /** Of all usage, or of the line of usage. */
  commitment: fc.constantFrom('all' as const, 'line' as const, null, null),
  coupons: fc.subarray(['all', 'line', 'phase'] as const),
  hasGrant: fc.boolean(),
  /** Hours that each phase but the last takes. */
  phases: fc.array(fc.integer({ min: 1, max: 24 * 60 }), { maxLength: 2 }),
  family: fc.constantFrom('shared' as const, 'delegated' as const, 'grouped' as const, null, null),
});
type Beginning = typeof anyBeginning extends fc.Arbitrary<infer Value> ? Value : never;

const monthly = { cadence: 'RECURRING', period: 'MONTHLY', credits: '100' };

/** A world with one subscription that has begun so. The plan gives credits, and so does an add-on that can be attached. */
export async function begun(beginning: Beginning) {
  const { start, ends, commitment, hasGrant, family, phases, ...terms } = beginning;
  const world = await subscriptionWorld([
    { amount: '31' },
    { amount: '90', billing_period: 'QUARTERLY' },
    { type: 'USAGE', amount: '0.02' },
  ]);
  const { call, planId, priceIds, create } = world;
  const addonId = await soldAddon(world, [
    { amount: '62' },
    { amount: '30', billing_period: 'QUARTERLY' },
  ]);
  const offered = offers.routes ?? {};
  for (const of of [
    { scope: 'PLAN', plan_id: planId },
    { scope: 'ADDON', addon_id: addonId },
  ]) {
    await call(offered, 'POST /creditgrants', { name: 'Monthly', ...of, ...monthly });
  }
  for (const name of ['ben', 'cal']) {
    await call(customers.routes, 'POST /customers', { name, external_id: name });
  }
  const ten = { name: 'Ten', type: 'percentage', percentage_off: '10', cadence: 'forever' };
  const { id: coupon } = await call(coupons.routes, 'POST /coupons', ten);
  const start_date = later(day(1, 1), start * 24);
  const end_date = ends === null ? null : later(start_date, ends * 24);
  const [price = '', , usage = ''] = priceIds;
  const { trial_period_days, coupons: redeemed } = terms;
  const first = later(start_date, trial_period_days * 24);
  const parts = phasesOf(first, phases, { start_date, end_date });
  const { id } = await create({
    ...{ ...terms, start_date },
    ...(parts.length > 0 ? { phases: parts } : { end_date }),
    coupons: redeemed.includes('all') ? [coupon] : [],
    line_item_coupons: redeemed.includes('line') ? { [price]: [coupon] } : {},
    ...(redeemed.includes('phase') &&
      parts.length > 0 && {
        phases: parts.map((part, place) => (place === 1 ? { ...part, coupons: [coupon] } : part)),
      }),
    ...(commitment === 'all' && { ...committed, overage_factor: '1.5' }),
    line_item_commitments:
      commitment === 'line' ? { [usage]: { ...committed, overage_factor: '1.5' } } : {},
    credit_grants: hasGrant ? [{ name: 'Own', scope: 'SUBSCRIPTION', ...monthly }] : [],
    inheritance: await familyOf(family, async () => (await create({ start_date })).id),
  });
  return { ...world, id, addonId };
}

const committed = { commitment_amount: '40', enable_true_up: true };

/** Phases that follow on one another from the end of the trial on, within the life of the subscription. */
function phasesOf(
  first: Instant,
  hours: readonly number[],
  life: { readonly start_date: Instant; readonly end_date: Instant | null },
) {
  const starts = [life.start_date];
  let last = first;
  for (const length of hours) {
    last = later(last, length);
    if (life.end_date === null || last < life.end_date) starts.push(last);
  }
  if (starts.length === 1) return [];
  return starts.map((start_date, place) => {
    const end = starts[place + 1] ?? life.end_date;
    return { start_date, ...(end !== null && { end_date: end }) };
  });
}

async function familyOf(family: Beginning['family'], parent: () => Promise<string>) {
  switch (family) {
    case 'shared':
      return { external_customer_ids_to_inherit_subscription: ['cal'] };
    case 'delegated':
      return { invoicing_customer_external_id: 'cal' };
    case 'grouped':
      return { parent_subscription_id: await parent() };
    case null:
      return null;
    default:
      return family satisfies never;
  }
}

/** An instant so many hours later. */
export const later = (at: Instant, hours: number): Instant => shiftedBy(at, hours * 3_600_000);

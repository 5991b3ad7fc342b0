import { setTimeout as pause } from 'node:timers/promises';
import type { Demo } from '@counterfoil/cli/settings';
import { api } from '../api.ts';

/** A feature of which a customer, `limited`, may use so much. */
export interface SoldLimit {
  readonly featureId: string;
  readonly meterId: string;
  readonly limit: number;
}

/** Makes a plan that grants a feature within a hard limit, and a customer with a subscription to it. */
export async function sellLimit(demo: Demo, limit: number): Promise<SoldLimit> {
  const aggregation = { type: 'COUNT' };
  const meter = { name: 'Limited', event_name: 'limited', aggregation };
  const feature = await post(demo, '/features', { name: 'Limited', type: 'metered', meter });
  const plan = await post(demo, '/plans', { name: 'Limited' });
  await post(demo, '/prices', {
    ...{ entity_type: 'PLAN', entity_id: plan.id, type: 'FIXED', billing_model: 'FLAT_FEE' },
    ...{ billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', currency: 'usd', amount: '10' },
  });
  await post(demo, '/entitlements', {
    ...{ plan_id: plan.id, feature_id: feature.id, feature_type: 'metered' },
    ...{ usage_limit: limit, is_soft_limit: false, usage_reset_period: 'ANNUAL' },
  });
  const customer = await post(demo, '/customers', { external_id: 'limited', name: 'Limited' });
  const terms = { plan_id: plan.id, currency: 'usd', billing_period: 'MONTHLY' };
  await post(demo, '/subscriptions', { customer_id: customer.id, ...terms });
  return { featureId: feature.id ?? '', meterId: feature.meter_id ?? '', limit };
}

const pollMilliseconds = 100;
const givenUpMilliseconds = 60_000;

/** The use that is counted, once all of the limit is, or when it does not come there. */
export async function usedOf(demo: Demo, { meterId, limit }: SoldLimit): Promise<string> {
  const deadline = performance.now() + givenUpMilliseconds;
  const question = { external_customer_id: 'limited', meter_id: meterId, reset_period: 'NEVER' };
  for (;;) {
    const { total_value = '' } = await post(demo, '/usage/current', question);
    if (Number(total_value) >= limit || performance.now() > deadline) return total_value;
    await pause(pollMilliseconds);
  }
}

const post = (
  demo: Demo,
  path: string,
  body: object,
): Promise<Partial<Record<'id' | 'meter_id' | 'total_value', string>>> =>
  api(demo, 'POST', path, body);

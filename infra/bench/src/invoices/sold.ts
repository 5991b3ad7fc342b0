import type { Demo } from '@counterfoil/cli/settings';
import { api, inParallel } from '../api.ts';

/** Everything that is billed in a run of the benchmark. */
export interface Sold {
  /** Subscriptions to a fee in advance and usage in arrears, each of a customer with a wallet of its own. */
  readonly usual: readonly SoldSubscription[];
  /** Subscriptions with so many lines, without wallets. */
  readonly wide: readonly string[];
}

export interface SoldSubscription {
  readonly id: string;
  readonly walletId: string;
  /** The name by which its usage is sent. */
  readonly customer: string;
  /** Calls in the first month. */
  readonly calls: number;
}

export const linesOfWide = 100;

/** Cents of the fee, and those that a wallet has. */
export const feeCents = 3_000;
export const walletCents = 300;

const clients = 32;
const eventsOfBulk = 1_000;
const freeCalls = 100;

/** Calls of a subscription in the first month: enough for both tiers in some, and different. */
const callsOf = (index: number): number => 800 + 100 * (index % 7);

/** The price of the calls of a month: a hundred are free, a thousand at two cents each, all others at one. */
export const centsOfCalls = (calls: number): number => {
  const charged = calls - freeCalls;
  return charged <= 1_000 ? 2 * charged : 2_000 + (charged - 1_000);
};

/** Sells a plan to so many customers with prepaid credits, and a plan with a hundred lines to some without. */
export async function sell(demo: Demo, count: number, wideCount: number): Promise<Sold> {
  const meterId = await created(demo, '/meters', {
    ...{ name: 'Calls', event_name: 'call' },
    aggregation: { type: 'SUM', field: 'count' },
  });
  await created(demo, '/taxes/rates', { name: 'VAT', code: 'VAT', percentage_value: '10' });
  await created(demo, '/taxes/associations', { tax_rate_code: 'VAT', entity_type: 'tenant' });
  const planId = await usualPlan(demo, meterId);
  const widePlanId = await widePlan(demo, meterId);
  const terms = { currency: 'usd', billing_period: 'MONTHLY' };
  const usual: SoldSubscription[] = [];
  await inParallel(clients, count, async (index) => {
    const customer = `billed-${index}`;
    await created(demo, '/customers', { external_id: customer, name: customer });
    const walletId = await created(demo, '/wallets', {
      ...{ external_customer_id: customer, currency: 'usd' },
      initial_credits_to_load: String(walletCents / 100),
    });
    const sold = { external_customer_id: customer, plan_id: planId, ...terms };
    const id = await created(demo, '/subscriptions', sold);
    usual[index] = { id, walletId, customer, calls: callsOf(index) };
  });
  const wide: string[] = [];
  await inParallel(clients, wideCount, async (index) => {
    const customer = `wide-${index}`;
    await created(demo, '/customers', { external_id: customer, name: customer });
    const sold = { external_customer_id: customer, plan_id: widePlanId, ...terms };
    wide[index] = await created(demo, '/subscriptions', sold);
  });
  return { usual, wide };
}

/** Sends the calls of the first month, in bulks: one event for all calls of a subscription. */
export async function useIt(demo: Demo, { usual }: Sold, timestamp: string): Promise<void> {
  const bulks = Math.ceil(usual.length / eventsOfBulk);
  for (let bulk = 0; bulk < bulks; bulk += 1) {
    const part = usual.slice(bulk * eventsOfBulk, (bulk + 1) * eventsOfBulk);
    const events = part.map(({ customer, calls }) => ({
      ...{ event_name: 'call', external_customer_id: customer, event_id: `calls-${customer}` },
      ...{ timestamp, properties: { count: calls } },
    }));
    await api(demo, 'POST', '/events/bulk', { events });
  }
}

/** A fee in advance, and calls in arrears of which some are free. */
async function usualPlan(demo: Demo, meter_id: string): Promise<string> {
  const plan_id = await created(demo, '/plans', { name: 'Usual' });
  await created(demo, '/prices', {
    ...fixedPrice(plan_id),
    amount: String(feeCents / 100),
  });
  await created(demo, '/prices', { ...callPrice(plan_id), meter_id });
  const feature_id = await created(demo, '/features', {
    ...{ name: 'Calls', type: 'metered', meter_id },
  });
  await created(demo, '/entitlements', {
    ...{ plan_id, feature_id, feature_type: 'metered' },
    ...{ usage_limit: freeCalls, usage_reset_period: 'MONTHLY' },
  });
  return plan_id;
}

async function widePlan(demo: Demo, meter_id: string): Promise<string> {
  const plan_id = await created(demo, '/plans', { name: 'Wide' });
  for (let number = 1; number < linesOfWide; number += 1) {
    const named = { amount: String(number), display_name: `Part ${number}` };
    await created(demo, '/prices', { ...fixedPrice(plan_id), ...named });
  }
  await created(demo, '/prices', { ...callPrice(plan_id), meter_id });
  return plan_id;
}

const priceOf = (entity_id: string) => ({
  ...{ entity_type: 'PLAN', entity_id, currency: 'usd', billing_period: 'MONTHLY' },
  start_date: '2020-01-01T00:00:00Z',
});

const fixedPrice = (planId: string) => ({
  ...priceOf(planId),
  ...{ type: 'FIXED', billing_model: 'FLAT_FEE', invoice_cadence: 'ADVANCE' },
});

const callPrice = (planId: string) => ({
  ...priceOf(planId),
  ...{ type: 'USAGE', billing_model: 'TIERED', tier_mode: 'SLAB', invoice_cadence: 'ARREAR' },
  tiers: [{ up_to: 1000, unit_amount: '0.02' }, { unit_amount: '0.01' }],
});

const created = async (demo: Demo, path: string, body: object): Promise<string> =>
  (await api<{ id: string }>(demo, 'POST', path, body)).id;

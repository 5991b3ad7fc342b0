import { decimal, type Instant, textOf, zero } from '@counterfoil/kernel';
import { subscription } from '../../subscriptions/index.ts';
import type { Invoice } from '../invoice.ts';
import { invoiceWorld } from '../test-invoice-world.ts';
import { lookAtThreshold } from './look.ts';

/** Prices of usage by which an amount in parts could come out otherwise than as a whole. */
export const usagePrices = {
  flat: { billing_model: 'FLAT_FEE', amount: '0.013' },
  slab: {
    ...{ billing_model: 'TIERED', tier_mode: 'SLAB' },
    tiers: [{ up_to: 150, unit_amount: '0.07' }, { unit_amount: '0.02' }],
  },
  volume: {
    ...{ billing_model: 'TIERED', tier_mode: 'VOLUME' },
    tiers: [
      { up_to: 200, unit_amount: '0.05' },
      { unit_amount: '0.01', flat_amount: '3' },
    ],
  },
  package: {
    ...{ billing_model: 'PACKAGE', amount: '1.25' },
    transform_quantity: { divide_by: 40, round: 'up' },
  },
} as const;
export type UsagePrice = keyof typeof usagePrices;

/** A world in which usage is looked at as soon as the test says so. */
export async function thresholdWorld() {
  const base = await invoiceWorld();
  const { post, meterId, request, usage, settle, invoices, world, pass } = base;
  return {
    ...base,
    /** A plan whose calls cost what a price says, of which some are free. */
    plan: async (price: UsagePrice, free: number): Promise<string> => {
      const { id } = await post('/plans', { name: `${price}, ${free} free` });
      await post('/prices', {
        ...{ entity_type: 'PLAN', entity_id: id, type: 'USAGE', invoice_cadence: 'ARREAR' },
        ...{ currency: 'usd', billing_period: 'MONTHLY', start_date: '2020-01-01T00:00:00Z' },
        meter_id: meterId,
        ...usagePrices[price],
      });
      if (free > 0) {
        const named = { name: `Calls ${id}`, type: 'metered', meter_id: meterId };
        const { id: feature_id } = await post('/features', named);
        await post('/entitlements', {
          ...{ plan_id: id, feature_id, feature_type: 'metered', usage_limit: free },
          usage_reset_period: 'MONTHLY',
        });
      }
      return id;
    },
    /** Looks at the usage of a subscription, as it is done after usage has come. */
    look: async (id: string): Promise<void> => {
      await lookAtThreshold(request(), id, usage);
      await settle();
    },
    /** The clock at an instant, with what comes by then. */
    at: async (instant: Instant): Promise<void> => {
      if (instant > world.now) await pass(instant);
    },
    /** The invoices of a subscription, oldest first. */
    of: async (id: string): Promise<readonly Invoice[]> =>
      (await invoices()).filter(({ subscription_id }) => subscription_id === id),
    stateOf: async (id: string) => request().load(subscription, id),
  };
}

/** Everything that invoices charge for usage together. */
export const usageOf = (invoices: readonly Invoice[]): string =>
  textOf(
    invoices
      .flatMap(({ lines }) => lines)
      .filter(({ price_type }) => price_type === 'USAGE')
      .reduce((sum, { amount }) => sum.plus(decimal(amount)), zero),
  );

import { offers } from '../offers/index.ts';
import type { subscriptionWorld } from './test-subscription-world.ts';

/** An add-on with these prices, monthly and in advance unless they say otherwise; gives its id. */
export async function soldAddon(
  { call }: Pick<Awaited<ReturnType<typeof subscriptionWorld>>, 'call'>,
  prices: readonly object[],
): Promise<string> {
  const { id } = await call(offers.routes ?? {}, 'POST /addons', { name: 'More', lookup_key: 'm' });
  for (const price of prices) {
    await call(offers.routes ?? {}, 'POST /prices', {
      ...{ entity_type: 'ADDON', entity_id: id, type: 'FIXED', billing_model: 'FLAT_FEE' },
      ...{ billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', currency: 'usd', ...price },
      start_date: '2020-01-01T00:00:00Z',
    });
  }
  return id;
}

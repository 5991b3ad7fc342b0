import { Parts } from '@counterfoil/engine/define';
import type { AnyAggregate } from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { callRoute } from '@counterfoil/testkit';
import { createAsker, createSealer, strictTargetPolicy } from '@counterfoil/webhooks';
import {
  taxesByProvider,
  taxLimits,
  taxProvider,
  taxProviderRoutes,
} from '../tax-provider/index.ts';
import { previewed } from './preview/preview.ts';
import type { PreviewInvoice } from './preview/schema.ts';
import { taxCalculation } from './taxation.ts';
import { billingWorld } from './test-billing-world.ts';
import { type Behaviour, taxSecret, taxServer } from './test-tax-server.ts';

/** Addresses on this machine, which production refuses. */
export const loopbackPolicy = {
  ...strictTargetPolicy,
  allowHttp: true,
  allowedCidrs: ['127.0.0.0/8'],
};

const sealer = createSealer(Buffer.alloc(32, 1).toString('base64'));

/** The world of invoices, whose taxes a server of the tenant works out once it is set. */
export async function taxedWorld(begins: Behaviour, others: readonly AnyAggregate[] = []) {
  const server = await taxServer(begins);
  const clock = { elapsed: 0 };
  const calculation = taxesByProvider({
    ...{
      sealer,
      asker: createAsker({ policy: loopbackPolicy, seconds: () => 1 }),
      elapsed: () => clock.elapsed,
    },
    limits: { ...taxLimits, invoiceTimeout: 2_000, previewTimeout: 300, answerBytes: 20_000 },
  });
  const world = await billingWorld(
    [taxProvider, ...others],
    new Parts().with(taxCalculation, calculation),
  );
  const routes = taxProviderRoutes({ sealer, policy: loopbackPolicy });
  return {
    ...world,
    server,
    routes,
    setProvider: (url = server.url, is_on = true) =>
      callRoute(routes['PUT /taxes/provider'], world.request(), {
        body: { url, secret: taxSecret, is_on },
      }),
    removeProvider: () => callRoute(routes['DELETE /taxes/provider'], world.request()),
    getProvider: () => callRoute(routes['GET /taxes/provider'], world.request()),
    /** The coming invoice of a subscription, with usage as these worlds note it. */
    preview: (subscription_id: string) =>
      previewed(world.request(), { subscription_id } as PreviewInvoice, world.readings),
    /** Lets the rest of a provider that did not answer pass. */
    restPasses: (): void => {
      clock.elapsed += 60_000;
    },
  };
}

/** Runs a test in such a world, and closes its server. */
export const inTaxedWorld =
  (
    begins: Behaviour,
    run: (world: Awaited<ReturnType<typeof taxedWorld>>) => Promise<void>,
    others: readonly AnyAggregate[] = [],
  ): (() => Promise<void>) =>
  async () => {
    const world = await taxedWorld(begins, others);
    try {
      await run(world);
    } finally {
      await world.server.close().catch(() => undefined);
    }
  };

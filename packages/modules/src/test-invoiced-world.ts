import type { AnyRoute, Routes } from '@counterfoil/engine/define';
import { invariant } from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { callRoute, memoryWorld, type RawInput, testPrincipal } from '@counterfoil/testkit';
import { coupons } from './coupons/index.ts';
import { customers } from './customers/index.ts';
import { features } from './features/index.ts';
import { invoices, invoicingWith } from './invoices/index.ts';
import { meters } from './meters/index.ts';
import { offers } from './offers/index.ts';
import { collectingAtOnce, payments } from './payments/index.ts';
import { settings } from './settings/index.ts';
import { subscriptionsWith } from './subscriptions/index.ts';
import { taxAssociations } from './tax-associations/index.ts';
import { taxes } from './taxes/index.ts';
import { wallets } from './wallets/index.ts';

/** An answer as tests look at it. */
export interface Told {
  readonly id: string;
  readonly [member: string]: unknown;
}

/**
 * A world in which subscriptions, their invoices and the payments of these answer together, without anything that is done by itself: one customer,
 * and a plan of a hundred dollars a month in advance. The time is the start of 2026.
 */
export async function invoicedWorld() {
  const provider = { provider: null };
  const sold = subscriptionsWith(invoicingWith(collectingAtOnce(provider)));
  const paying = payments(provider);
  const slices = [
    ...[customers, meters, features, offers, coupons, taxes, taxAssociations, settings],
    ...[wallets, sold, invoices, paying],
  ];
  const world = memoryWorld(slices.flatMap(({ aggregates }) => aggregates));
  const routes: Routes = Object.assign({}, ...slices.map((slice) => slice.routes));
  const request = (operation = '', key?: string, fields: object = {}) =>
    world.request(
      testPrincipal(),
      key === undefined ? undefined : { key, operation, fields: { ...fields } },
    );
  const call = async (name: string, input: RawInput = {}, key?: string): Promise<Told> => {
    const route: AnyRoute | undefined = routes[name as never];
    invariant(route, `there is no ${name}`);
    const context = request(name, key, (input.body ?? {}) as object);
    return (await callRoute(route, context, input)) as Told;
  };
  const post = (path: string, body: object, key?: string) => call(`POST ${path}`, { body }, key);
  const { id: customerId } = await post('/customers', { name: 'Ada', external_id: 'ada' });
  const plan = async (amount: string): Promise<string> => {
    const { id } = await post('/plans', { name: `Plan at ${amount}` });
    await post('/prices', {
      ...{ entity_type: 'PLAN', entity_id: id, type: 'FIXED', billing_model: 'FLAT_FEE' },
      ...{ currency: 'usd', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', amount },
      start_date: '2020-01-01T00:00:00Z',
    });
    return id;
  };
  const planId = await plan('100');
  const wallet = (credits: string, body: object = {}) =>
    post('/wallets', {
      ...{ customer_id: customerId, currency: 'usd', allow_multiple: true },
      ...{ initial_credits_to_load: credits, ...body },
    });
  return {
    world,
    request,
    call,
    post,
    plan,
    planId,
    customerId,
    create: (body: object = {}, key?: string) =>
      post(
        '/subscriptions',
        {
          ...{ external_customer_id: 'ada', plan_id: planId },
          ...{ currency: 'usd', billing_period: 'MONTHLY', ...body },
        },
        key,
      ),
    wallet,
    /** A prepaid wallet that may pay for fixed charges. */
    prepaid: async (credits: string): Promise<void> => {
      const { id } = await wallet(credits);
      const body = { config: { allowed_price_types: ['FIXED'] } };
      await call('PUT /wallets/{id}', { params: { id }, body });
    },
    /** The streams that there are, by category. */
    streams: (category: string): number =>
      new Set(
        world.store.log.flatMap(({ stream }) =>
          stream.startsWith(`${category}-`) ? [stream] : [],
        ),
      ).size,
  };
}

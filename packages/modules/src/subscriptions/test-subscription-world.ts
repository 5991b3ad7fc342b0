import type { RequestContext } from '@counterfoil/engine/define';
import { type Instant, instantOf, invariant } from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { callRoute, memoryDueRows, memoryWorld, testPrincipal } from '@counterfoil/testkit';
import { coupon, couponRedemptions } from '../coupons/index.ts';
import { customer, customers } from '../customers/index.ts';
import { feature } from '../features/index.ts';
import { meter, meters } from '../meters/index.ts';
import { offer, offers } from '../offers/index.ts';
import { taxAssociation, taxRate } from '../taxes/index.ts';
import { wallet } from '../wallets/index.ts';
import { planChangeRoutes } from './change/routes.ts';
import { takeDue } from './decisions.ts';
import { subscriptions } from './index.ts';
import { pauseRoutes } from './pauses/routes.ts';
import { subscriptionRoutes as routes } from './routes.ts';
import { scheduleRoutes } from './schedules/routes.ts';
import { subscription } from './subscription.ts';

/** A fixed price of ten dollars a month in advance, as a request asks for it. */
const flat = {
  entity_type: 'PLAN',
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ADVANCE',
  currency: 'usd',
  amount: '10',
  start_date: '2020-01-01T00:00:00Z',
};

/** The day of a month of 2026, at midnight in UTC. */
export const day = (month: number, date: number, year = 2026): Instant =>
  instantOf(Date.UTC(year, month - 1, date));

/** Everything that a world with subscriptions has streams of. */
export const worldAggregates = [
  ...[customer, meter, feature, offer, wallet, subscription],
  ...[taxRate, taxAssociation, coupon, couponRedemptions],
];

/** A world with one customer and one plan under some prices, for tests of routes. The time is the start of 2026. */
export async function subscriptionWorld(
  prices: readonly object[] = [{}],
  { timezone = 'UTC', currency = 'usd' }: { timezone?: string; currency?: string } = {},
) {
  const world = memoryWorld(worldAggregates);
  const request = (operation = '', key?: string) =>
    world.request(testPrincipal(), key === undefined ? undefined : { key, operation, fields: {} });
  const call = async (table: Readonly<Record<string, unknown>>, route: string, body: object) => {
    const found = table[route];
    invariant(found, `there is no ${route}`);
    return callRoute(found as never, request(), { body }) as Promise<{ id: string }>;
  };
  await call(customers.routes, 'POST /customers', { name: 'Ada', external_id: 'ada', timezone });
  const { id: meterId } = await call(meters.routes, 'POST /meters', {
    name: 'Calls',
    event_name: 'call',
    aggregation: { type: 'COUNT' },
    reset_usage: 'BILLING_PERIOD',
  });
  const { id: planId } = await call(offers.routes, 'POST /plans', { name: 'Pro' });
  const priceIds: string[] = [];
  for (const price of prices) {
    const isUsage = 'type' in price && price.type === 'USAGE';
    const usage = isUsage ? { meter_id: meterId, invoice_cadence: 'ARREAR' } : {};
    const body = { ...flat, entity_id: planId, currency, ...usage, ...price };
    priceIds.push((await call(offers.routes, 'POST /prices', body)).id);
  }
  const due = () => {
    const work = subscriptions.dueWork?.[0];
    invariant(work, 'subscriptions have due work');
    return memoryDueRows(world.store, work, testPrincipal(), world.now);
  };
  return {
    world,
    request,
    planId,
    meterId,
    priceIds,
    call,
    ...actsOf(request),
    create: (body: object = {}, key?: string) =>
      callRoute(routes['POST /subscriptions'], request('POST /subscriptions', key), {
        body: {
          external_customer_id: 'ada',
          plan_id: planId,
          currency,
          billing_period: 'MONTHLY',
          ...body,
        },
      }),
    /** Another plan, under some prices. */
    plan: async (name: string, others: readonly object[]) => {
      const { id: entity_id } = await call(offers.routes, 'POST /plans', { name });
      for (const price of others) {
        const isUsage = 'type' in price && price.type === 'USAGE';
        const usage = isUsage ? { meter_id: meterId, invoice_cadence: 'ARREAR' } : {};
        const body = { ...flat, entity_id, currency, ...usage, ...price };
        await call(offers.routes, 'POST /prices', body);
      }
      return entity_id;
    },
    search: (body: object = {}) =>
      callRoute(routes['POST /subscriptions/search'], request(), { body }),
    lines: (body: object = {}) =>
      callRoute(routes['POST /subscriptions/lineitems/search'], request(), { body }),
    /** Everything that was settled, oldest first. */
    settled: async (id: string) => {
      const list = routes['GET /subscriptions/{id}/settlements'];
      const { items } = await callRoute(list, request(), { ...ofOne(id), query: { limit: 1000 } });
      return items.reverse();
    },
    /** The clock at a later instant, with everything done that has come by then. */
    pass: async (to: Instant) => {
      world.now = to;
      for (let rows = due(); rows.length > 0; rows = due()) {
        for (const { id } of rows) await request().execute(subscription, id, takeDue(id));
      }
    },
    /** The types of the events of a subscription, in their order. */
    events: async (id: string) => {
      const types: string[] = [];
      for await (const event of request().history(subscription, id)) types.push(event.type);
      return types;
    },
  };
}

const ofOne = (id: string) => ({ params: { id } });

/** Acts of callers on one subscription, through its routes. */
const actsOf = (request: (operation?: string, key?: string) => RequestContext) => ({
  get: (id: string) => callRoute(routes['GET /subscriptions/{id}'], request(), ofOne(id)),
  update: (id: string, body: object) =>
    callRoute(routes['PUT /subscriptions/{id}'], request(), { ...ofOne(id), body }),
  activate: (id: string, body: object = {}) =>
    callRoute(routes['POST /subscriptions/{id}/activate'], request(), { ...ofOne(id), body }),
  cancel: (id: string, body: object, key?: string) =>
    callRoute(
      routes['POST /subscriptions/{id}/cancel'],
      request(`POST /subscriptions/${id}/cancel`, key),
      { ...ofOne(id), body },
    ),
  pause: (id: string, body: object = {}) =>
    callRoute(pauseRoutes['POST /subscriptions/{id}/pause'], request(), {
      ...ofOne(id),
      body: { pause_mode: 'immediate', ...body },
    }),
  resume: (id: string, body: object = {}) =>
    callRoute(pauseRoutes['POST /subscriptions/{id}/resume'], request(), { ...ofOne(id), body }),
  pauses: (id: string) =>
    callRoute(pauseRoutes['GET /subscriptions/{id}/pauses'], request(), ofOne(id)),
  previewChange: (id: string, body: object) =>
    callRoute(planChangeRoutes['POST /subscriptions/{id}/change/preview'], request(), {
      ...ofOne(id),
      body,
    }),
  change: (id: string, body: object, key?: string) =>
    callRoute(
      planChangeRoutes['POST /subscriptions/{id}/change/execute'],
      request(`POST /subscriptions/${id}/change/execute`, key),
      { ...ofOne(id), body },
    ),
  schedules: (id: string) =>
    callRoute(scheduleRoutes['GET /subscriptions/{id}/schedules'], request(), ofOne(id)),
  revert: (scheduleId: string) =>
    callRoute(scheduleRoutes['POST /subscriptions/schedules/{id}/cancel'], request(), {
      ...ofOne(scheduleId),
      body: {},
    }),
  revertNamed: (body: object) =>
    callRoute(scheduleRoutes['POST /subscriptions/schedules/cancel'], request(), { body }),
});

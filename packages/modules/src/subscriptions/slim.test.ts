import { callRoute } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { slimRoutes } from './slim.ts';
import { subscriptionWorld } from './test-subscription-world.ts';

const test = suite('slim subscriptions');

const parts = ['line_items', 'credit_grants', 'pauses', 'phases', 'coupon_associations'];

for (const [expand, expected] of [
  ['', []],
  ['plan', ['plan']],
  ['plan,customer', ['plan', 'customer']],
  ['subscription_line_items.prices', ['line_items']],
  ['pauses,phases,credit_grants,coupon_associations', parts.slice(1)],
] as const) {
  test(`a subscription with ${expand || 'nothing'} in it`, async () => {
    const { create, get, request } = await subscriptionWorld();
    const { id } = await create();
    const slim = await callRoute(slimRoutes['GET /subscriptions/{id}/v2'], request(), {
      params: { id },
      query: { expand },
    });
    const whole = await get(id);
    const inside = [...parts, 'plan', 'customer'];
    const left = new Set<string>(inside.filter((each) => !(expected as string[]).includes(each)));
    const kept = Object.entries(whole).filter(([member]) => !left.has(member));
    assert.equal(slim, Object.fromEntries(kept));
  });
}

test.run();

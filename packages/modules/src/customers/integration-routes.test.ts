import type { EnvironmentId } from '@counterfoil/kernel';
import { callRoute, memoryWorld, rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEnvironment, environment } from '../tenancy/index.ts';
import { customer } from './customer.ts';
import { customers } from './index.ts';
import { integrationRoutes } from './integration-routes.ts';
import { customerRoutes } from './routes.ts';

const test = suite('time zones and integrations of customers');

/** A customer of an environment with a time zone, or with none. */
async function ada(body: object = {}, timezone: string | null = null) {
  const world = memoryWorld([environment, customer]);
  const context = () => world.request(testPrincipal());
  const id = testPrincipal().environmentId as EnvironmentId;
  const fields = { name: 'Live', type: 'production' as const, timezone };
  await context().execute(environment, id, createEnvironment(id, fields));
  const made = await callRoute(customerRoutes['POST /customers'], context(), {
    body: { external_id: 'ada', name: 'Ada', ...body },
  });
  const linked = { entity_type: 'customer', entity_id: made.id };
  return {
    made,
    change: (changes: object) =>
      callRoute(customerRoutes['PUT /customers'], context(), {
        query: { id: made.id },
        body: changes,
      }),
    link: (mapping: object) =>
      callRoute(integrationRoutes['POST /integrations/link'], context(), {
        body: { ...linked, ...mapping },
      }),
    unlink: (provider_type: string) =>
      callRoute(integrationRoutes['DELETE /integrations/link'], context(), {
        body: { ...linked, provider_type },
      }),
    mappings: async (query: object = {}) => {
      const route = integrationRoutes['GET /integrations/mappings'];
      const page = await callRoute(route, context(), { query: { ...linked, ...query } });
      return page.items.map((item) => [item.provider_type, item.provider_entity_id]);
    },
  };
}

test('a customer has the zone that is named, else the one of the environment, else UTC', async () => {
  assert.is((await ada({ timezone: 'Asia/Tokyo' }, 'Europe/Berlin')).made.timezone, 'Asia/Tokyo');
  assert.is((await ada({}, 'Europe/Berlin')).made.timezone, 'Europe/Berlin');
  assert.is((await ada({ timezone: null })).made.timezone, 'UTC');
});

test('a zone is changed, and null leaves it as it is', async () => {
  const { change } = await ada();
  assert.is((await change({ timezone: 'Asia/Tokyo' })).timezone, 'Asia/Tokyo');
  assert.is((await change({ timezone: null, name: 'Eve' })).timezone, 'Asia/Tokyo');
});

test('a customer is linked to providers, each once, and shows it', async () => {
  const { link, mappings, change } = await ada();
  const stripe = { provider_type: 'stripe', provider_entity_id: 'cus_1' };
  const { mapping: first } = await link(stripe);
  assert.equal([first.entity_type, first.provider_entity_id], ['customer', 'cus_1']);
  const { mapping: again } = await link({ ...stripe, provider_entity_id: 'cus_2' });
  assert.equal([again.id, again.provider_entity_id], [first.id, 'cus_2']);
  await link({ provider_type: 'hubspot', provider_entity_id: '7' });
  assert.equal(await mappings(), [
    ['stripe', 'cus_2'],
    ['hubspot', '7'],
  ]);
  assert.equal(await mappings({ limit: '1', offset: '1' }), [['hubspot', '7']]);
  assert.is((await change({ name: 'Eve' })).integrations.length, 2);
});

test('a mapping is removed, however often it is asked for, and may be made again', async () => {
  const { link, unlink, mappings } = await ada();
  const stripe = { provider_type: 'stripe', provider_entity_id: 'cus_1' };
  await link(stripe);
  await unlink('stripe');
  assert.equal(await mappings(), []);
  await unlink('stripe');
  await link(stripe);
  assert.equal(await mappings(), [['stripe', 'cus_1']]);
});

test('what is no customer is not linked', async () => {
  const { link, mappings } = await ada();
  const mapping = { provider_type: 'stripe', provider_entity_id: 'x' };
  const nobody = 'cust_01KA0000000000000000000000';
  const unknown = await rejection(link({ ...mapping, entity_id: nobody }));
  assert.equal([unknown.code, unknown.details?.field], ['not_found', 'entity_id']);
  assert.equal(await mappings({ entity_id: nobody }), []);
  const { body } = customers.routes['POST /integrations/link'] ?? {};
  assert.not.ok(body?.safeParse({ ...mapping, entity_type: 'plan', entity_id: 'plan_1' }).success);
});

test.run();

import { type SharedStack, sharedStack } from '@counterfoil/testkit/stack';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { resellerCatalogue, resellerCustomers } from './catalogue.ts';
import { fillCatalogue, fillCustomers } from './fill.ts';

const test = suite('seed');

let stack: SharedStack;
test.before(async () => {
  stack = await sharedStack();
});

/** Events of the tenant's environment; the projector and others write as well. */
async function eventsOf(environmentId: string): Promise<number> {
  let count = 0;
  const head = await stack.store.head();
  for await (const { stream } of stack.store.readLog({ prefixes: [''], after: 0n, upTo: head })) {
    if (stream.includes(environmentId)) count += 1;
  }
  return count;
}

test('an environment is filled once, and a second time nothing changes', async () => {
  const { apiKey, environmentId, ok } = await stack.tenant('seed');
  const place = { baseUrl: stack.baseUrl, apiKey };
  await fillCatalogue(place);
  await fillCustomers(place);
  const plans = await ok('GET', '/plans?expand=prices,entitlements');
  assert.is(plans.pagination.total, resellerCatalogue.plans?.length);
  const wallets = await ok('POST', '/wallets/search', {});
  assert.is(wallets.pagination.total, resellerCustomers.length);
  const exported = await ok('GET', '/catalog/export');
  const before = await eventsOf(environmentId);
  assert.ok(before > 50);
  await fillCatalogue(place);
  await fillCustomers(place);
  assert.is(await eventsOf(environmentId), before);
  assert.equal(await ok('GET', '/catalog/export'), exported);
});

test('what was changed since stays', async () => {
  const { apiKey, ok } = await stack.tenant('seed-changed');
  const place = { baseUrl: stack.baseUrl, apiKey };
  await fillCatalogue(place);
  const [plan] = (await ok('GET', '/plans?lookup_key=team')).items;
  await ok('PUT', `/plans/${plan.id}`, { name: 'Ours' });
  await fillCatalogue(place);
  assert.is((await ok('GET', `/plans/${plan.id}`)).name, 'Ours');
});

test('the document of the seed is the one that is exported, but for what is left out', async () => {
  const { ok, call } = await stack.tenant('seed-diff');
  const body = { document: resellerCatalogue };
  await ok('POST', '/catalog/import', body);
  const { changes, unchanged } = (
    await call('POST', '/catalog/import', { ...body, dry_run: true, prune: true })
  ).body;
  assert.equal(changes, []);
  assert.ok(unchanged > 30);
});

test.run();

import type { Principal } from '@counterfoil/engine/define';
import { type FeatureId, type MeterId, type PlanId, Problem } from '@counterfoil/kernel';
import {
  callRoute,
  type MemoryStore,
  type MemoryWorld,
  memoryWorld,
  testPrincipal,
} from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { customer } from '../customers/index.ts';
import { type FeatureRoutes, feature, features as featuresModule } from '../features/index.ts';
import { group } from '../groups/index.ts';
import { type MeterRoutes, meter, meters as metersModule } from '../meters/index.ts';
import { priceUnit } from '../pricing-units/index.ts';
import { offer } from './index.ts';
import { offerRoutes } from './routes.ts';

const test = suite('what offers use is not deleted under them');

const aggregates = [offer, meter, group, priceUnit, feature, customer];
const offers = offerRoutes();
const meters = metersModule.routes as unknown as MeterRoutes;
const features = featuresModule.routes as unknown as FeatureRoutes;
const principal: Principal = testPrincipal('env_01');
const users = 64;

/** Processes over one log. */
function processes(count: number): readonly MemoryWorld[] {
  const first = memoryWorld(aggregates);
  const others = Array.from({ length: count - 1 }, () => memoryWorld(aggregates, first.store));
  return [first, ...others];
}

const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof Problem) return error.code;
      throw error;
    },
  );

interface Race {
  /** Begins to use the record with a plan. */
  readonly use: (world: MemoryWorld, planId: PlanId) => Promise<unknown>;
  readonly remove: (world: MemoryWorld) => Promise<unknown>;
}

/** Many plans begin to use a record against its deletion, which begins after some turns of the others. */
async function race(worlds: readonly MemoryWorld[], turns: number, { use, remove }: Race) {
  const worldOf = (index: number): MemoryWorld => worlds[index % worlds.length] as MemoryWorld;
  const plans = await Promise.all(
    Array.from({ length: users }, async (_, index) => {
      const context = worldOf(0).request(principal);
      const body = { name: `Plan ${index}` };
      return (await callRoute(offers['POST /plans'], context, { body })).id as PlanId;
    }),
  );
  const used = plans.map((id, index) => outcomeOf(use(worldOf(index), id)));
  for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
  const removed = await outcomeOf(remove(worldOf(turns)));
  const made = (await Promise.all(used)).filter((outcome) => outcome === 'done').length;
  return { removed, made };
}

const eventsOf = ({ log }: MemoryStore, type: string): number =>
  log.filter((event) => event.type === type).length;

test('64 plans get a price for a meter while it is deleted: it is one or the other', async () => {
  const seen = new Set<string>();
  for (const turns of [0, 1, 2, 3, 5, 8, 13, 21, 34]) {
    const worlds = processes(3);
    const [world] = worlds;
    assert.ok(world);
    const body = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } };
    const created = await callRoute(meters['POST /meters'], world.request(principal), { body });
    const id = created.id as MeterId;
    const price = {
      entity_type: 'PLAN',
      type: 'USAGE',
      billing_model: 'FLAT_FEE',
      billing_period: 'MONTHLY',
      invoice_cadence: 'ARREAR',
      currency: 'usd',
      amount: '1',
      meter_id: id,
    };
    const { removed, made } = await race(worlds, turns, {
      use: (each, entity_id) =>
        callRoute(offers['POST /prices'], each.request(principal), {
          body: { ...price, entity_id },
        }),
      remove: (each) =>
        callRoute(meters['DELETE /meters/{id}'], each.request(principal), { params: { id } }),
    });
    assert.is(made > 0, removed !== 'done', `${made} prices, deletion ${removed}`);
    assert.is(eventsOf(world.store, 'PriceCreated'), made);
    seen.add(removed);
  }
  assert.equal([...seen].sort(), ['done', 'invalid_operation']);
});

test('64 plans grant a feature while it is deleted: it is one or the other', async () => {
  for (const turns of [0, 2, 5, 13]) {
    const worlds = processes(2);
    const [world] = worlds;
    assert.ok(world);
    const body = { name: 'Support', type: 'boolean' };
    const context = world.request(principal);
    const id = (await callRoute(features['POST /features'], context, { body })).id as FeatureId;
    const { removed, made } = await race(worlds, turns, {
      use: (each, plan_id) =>
        callRoute(offers['POST /entitlements'], each.request(principal), {
          body: { plan_id, feature_id: id, feature_type: 'boolean' },
        }),
      remove: (each) =>
        callRoute(features['DELETE /features/{id}'], each.request(principal), { params: { id } }),
    });
    assert.is(made > 0, removed !== 'done', `${made} entitlements, deletion ${removed}`);
  }
});

const priceOf = (entity_id: string, meter_id: string) => ({
  ...{ entity_type: 'PLAN', type: 'USAGE', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY' },
  ...{ invoice_cadence: 'ARREAR', currency: 'usd', amount: '1', entity_id, meter_id },
});

test('what was used is deleted when its last price has ended', async () => {
  const [world] = processes(1);
  assert.ok(world);
  const call = () => world.request(principal);
  const body = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } };
  const { id } = await callRoute(meters['POST /meters'], call(), { body });
  const plan = await callRoute(offers['POST /plans'], call(), { body: { name: 'Pro' } });
  const price = await callRoute(offers['POST /prices'], call(), { body: priceOf(plan.id, id) });
  const remove = () => callRoute(meters['DELETE /meters/{id}'], call(), { params: { id } });
  assert.is(await outcomeOf(remove()), 'invalid_operation');
  await callRoute(offers['DELETE /prices/{id}'], call(), { params: { id: price.id } });
  assert.is(await outcomeOf(remove()), 'done');
});

test('the meter of a deleted feature goes on while a price uses it', async () => {
  const [world] = processes(1);
  assert.ok(world);
  const call = () => world.request(principal);
  const definition = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } };
  const plan = await callRoute(offers['POST /plans'], call(), { body: { name: 'Pro' } });
  const deleted = async (isPriced: boolean) => {
    const body = { name: 'Calls', type: 'metered', meter: definition };
    const { id, meter_id = '' } = await callRoute(features['POST /features'], call(), { body });
    if (isPriced) {
      await callRoute(offers['POST /prices'], call(), { body: priceOf(plan.id, meter_id) });
    }
    await callRoute(features['DELETE /features/{id}'], call(), { params: { id } });
    return (await call().load(meter, meter_id))?.status;
  };
  assert.is(await deleted(true), 'published');
  assert.is(await deleted(false), 'archived');
});

test.run();

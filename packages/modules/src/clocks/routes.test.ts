import type { AdvanceStep, Principal, ReactionEvent } from '@counterfoil/engine/define';
import {
  type EnvironmentId,
  type EventCatalogue,
  type EventOf,
  type Instant,
  instantOf,
  type TenantId,
} from '@counterfoil/kernel';
import { callRoute, memoryWorld, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEnvironment, environment } from '../tenancy/index.ts';
import { createClocks } from './clocks.ts';
import { clockRoutes } from './routes.ts';
import { testClock } from './test-clock.ts';

const test = suite('clock routes');

const sandbox = 'env_sandbox' as EnvironmentId;
const production = 'env_production' as EnvironmentId;
const monday = '2026-03-02T00:00:00.000Z' as Instant;
const friday = '2026-03-06T00:00:00.000Z' as Instant;

const caller = (tenantId: string, ...roles: string[]): Principal => ({
  tenantId: tenantId as TenantId,
  environmentId: production,
  userId: 'user_1' as Principal['userId'],
  keyId: 'secret_1' as Principal['keyId'],
  roles,
  allows: () => true,
});

/** A tenant with two environments, its clocks, which follow the log when told to, and the routes. */
async function acme() {
  const world = memoryWorld([environment, testClock]);
  const clocks = createClocks({ now: () => world.now });
  const routes = clockRoutes(clocks);
  const admin = () => world.request(caller('tenant_1', 'super_admin'));
  for (const [id, type] of [
    [sandbox, 'development'],
    [production, 'production'],
  ] as const) {
    await admin().execute(environment, id, createEnvironment(id, { name: id, type }));
  }
  const catchUp = () => {
    for (const { metadata, stream, ...stored } of world.store.log) {
      const aggregate_id = stream.slice(stream.indexOf('.') + 1);
      const event = { ...stored, stamp: metadata, aggregate_id };
      clocks.apply(event as unknown as ReactionEvent<EventOf<EventCatalogue>>);
    }
  };
  const params = { id: sandbox };
  return {
    world,
    clocks,
    catchUp,
    get: async (id: string = sandbox, context = admin()) => {
      catchUp();
      return callRoute(routes['GET /environments/{id}/clock'], context, { params: { id } });
    },
    set: (now: Instant, id: string = sandbox, context = admin()) =>
      callRoute(routes['PUT /environments/{id}/clock'], context, { params: { id }, body: { now } }),
    advance: (body: object) =>
      callRoute(routes['POST /environments/{id}/clock/advance'], admin(), { params, body }),
    remove: () => callRoute(routes['DELETE /environments/{id}/clock'], admin(), { params }),
    /** Takes a step of the first advance, as the projector would. */
    step: (step: AdvanceStep) => {
      const place = { tenantId: 'tenant_1' as TenantId, environmentId: sandbox };
      return clocks.step(admin(), place, { number: 1 }, step);
    },
  };
}

test("an environment has the system's clock, then a test clock, and then the system's again", async () => {
  const { world, get, set, remove, clocks } = await acme();
  assert.equal(await get(), { environment_id: sandbox, state: 'system', now: world.now });
  world.now = friday;
  const standing = { environment_id: sandbox, state: 'standing', now: monday };
  assert.equal(await set(monday), standing);
  assert.equal(await get(), standing);
  assert.is(clocks.now(sandbox), monday);
  assert.is(clocks.now(production), friday);
  await remove();
  assert.is((await get()).now, friday);
});

test('an advance tells its progress and its end', async () => {
  const { get, set, advance, step } = await acme();
  await set(monday);
  const asked = await advance({ to: friday, stop_at_next_effect: true });
  assert.equal([asked.state, asked.now], ['advancing', monday]);
  const wednesday = '2026-03-04T00:00:00.000Z' as Instant;
  await step({ kind: 'move', now: wednesday, effects: 2 });
  const under = await get();
  assert.equal([under.state, under.now, under.progress?.effects], ['advancing', wednesday, 2]);
  assert.is((await rejection(advance({ to: friday }))).code, 'version_conflict');
  await step({ kind: 'end', now: wednesday, effects: 5, ended: 'failed', failure: 'no' });
  const { state, progress } = await get();
  assert.is(state, 'standing');
  const told = { from: monday, to: friday, stop_at_next_effect: true };
  assert.equal(progress, { ...told, effects: 5, ended: 'failed', failure: 'no' });
});

test('production has no test clock, another tenant sees none, and only an admin moves one', async () => {
  const { get, set, world } = await acme();
  assert.is((await rejection(set(monday, production))).code, 'invalid_operation');
  const stranger = () => world.request(caller('tenant_2', 'super_admin'));
  assert.is((await rejection(set(monday, sandbox, stranger()))).code, 'not_found');
  assert.is((await rejection(get(sandbox, stranger()))).code, 'not_found');
  const writer = world.request(caller('tenant_1', 'all_writer'));
  assert.is((await rejection(set(monday, sandbox, writer))).code, 'permission_denied');
});

test('what another process has read of the log already changes nothing when it comes again', async () => {
  const { set, advance, step, catchUp, clocks } = await acme();
  await set(monday);
  await advance({ to: friday });
  await step({ kind: 'move', now: friday, effects: 0 });
  const seen = clocks.testClocks();
  catchUp();
  catchUp();
  assert.equal(clocks.testClocks(), seen);
  assert.equal(clocks.testClocks()[0]?.advance?.to, instantOf(Date.parse(friday)));
});

test.run();

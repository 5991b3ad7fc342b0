import type { Principal } from '@counterfoil/engine/define';
import {
  type EnvironmentId,
  type Instant,
  instantOf,
  type KeyId,
  type TenantId,
  type UserId,
} from '@counterfoil/kernel';
import {
  type AppendFate,
  callRoute,
  type Idempotency,
  type MemoryStore,
  memoryWorld,
  rejection,
} from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { feature } from '../features/index.ts';
import { group } from '../groups/index.ts';
import { meter } from '../meters/index.ts';
import { priceUnit } from '../pricing-units/index.ts';
import { offer } from './index.ts';
import { offerRoutes } from './routes.ts';

const test = suite('a process that dies while it creates an offer');

const principal: Principal = {
  tenantId: 'tenant_01' as TenantId,
  environmentId: 'env_01' as EnvironmentId,
  userId: 'user_01' as UserId,
  keyId: 'secret_01' as KeyId,
  roles: ['super_admin'],
  allows: () => true,
};

const routes = offerRoutes();
const start = Date.parse('2026-01-01T00:00:00.000Z');
/** Longer than anybody waits for the claim of another process. */
const later: Instant = instantOf(start + 60_000);

/** A process over a log; the time of another one is a minute later. */
function processOver(store?: MemoryStore) {
  const world = memoryWorld([offer, meter, group, priceUnit, feature], store);
  if (store) world.now = later;
  const context = (request?: Idempotency) => world.request(principal, request);
  return {
    world,
    create: (body: object, request?: Idempotency) =>
      callRoute(routes['POST /plans'], context(request), { body }),
    clone: (id: string, body: object, request?: Idempotency) =>
      callRoute(routes['POST /plans/{id}/clone'], context(request), { params: { id }, body }),
    addPrices: (id: string, count: number) => {
      const price = {
        entity_type: 'PLAN',
        entity_id: id,
        type: 'FIXED',
        billing_model: 'FLAT_FEE',
        billing_period: 'MONTHLY',
        invoice_cadence: 'ADVANCE',
        currency: 'usd',
        amount: '1',
      };
      const items = Array.from({ length: count }, () => price);
      return callRoute(routes['POST /prices/bulk'], context(), { body: { items } });
    },
    plans: () => callRoute(routes['GET /plans'], context()),
    plan: (id: string) => callRoute(routes['GET /plans/{id}'], context(), { params: { id } }),
  };
}

/** Lets the append of the offer come to an end like this, and everything after it fail. */
function dieAtOffer(store: MemoryStore, fate: AppendFate): void {
  let isDead = false;
  store.fate = (stream) => {
    if (isDead) return 'unavailable';
    isDead = stream.startsWith('offer-');
    return isDead ? fate : 'written';
  };
}

const revive = (store: MemoryStore): void => {
  store.fate = () => 'written';
};

/** Nobody is left to whom an answer or a failure could be told. */
const outcomeIsLost = (answer: Promise<unknown>): Promise<unknown> => answer.catch(() => undefined);

const claimsIn = (store: MemoryStore): number =>
  store.log.filter(({ stream }) => stream.startsWith('reservation-')).length;

const pro = { name: 'Pro', lookup_key: 'pro' };

test('between the claim of its key and the event: nothing is there, and the key is not lost', async () => {
  const dying = processOver();
  const { store } = dying.world;
  dieAtOffer(store, 'unavailable');
  assert.is((await rejection(dying.create(pro))).code, 'service_unavailable');
  assert.is(claimsIn(store), 1, 'the claim was left behind');
  revive(store);
  const next = processOver(store);
  assert.is((await next.plans()).pagination.total, 0);
  const made = await next.create(pro);
  assert.equal([made.lookup_key, (await next.plans()).pagination.total], ['pro', 1]);
});

test('the same request once more, with its idempotency key, makes the one plan', async () => {
  const dying = processOver();
  const { store } = dying.world;
  const request = { key: 'k1', operation: 'POST /plans', fields: pro };
  dieAtOffer(store, 'lost_unheard');
  await rejection(dying.create(pro, request));
  revive(store);
  const next = processOver(store);
  const made = await next.create(pro, request);
  const again = await processOver(store).create(pro, request);
  assert.equal([again.id, (await next.plans()).pagination.total], [made.id, 1]);
});

test('after the event: the plan is there, and another with its key is refused', async () => {
  const dying = processOver();
  const { store } = dying.world;
  dieAtOffer(store, 'written_unheard');
  await outcomeIsLost(dying.create(pro));
  revive(store);
  const next = processOver(store);
  assert.is((await rejection(next.create(pro))).code, 'already_exists');
  assert.is((await next.plans()).items[0]?.lookup_key, 'pro');
});

const copy = { name: 'Copy', lookup_key: 'copy' };

for (const [fate, isThere] of [
  ['unavailable', false],
  ['lost_unheard', false],
  ['written_unheard', true],
] as const) {
  test(`a clone whose append is ${fate} is ${isThere ? 'whole' : 'not there at all'}`, async () => {
    const dying = processOver();
    const { store } = dying.world;
    const { id } = await dying.create(pro);
    await dying.addPrices(id, 20);
    dieAtOffer(store, fate);
    await outcomeIsLost(dying.clone(id, copy));
    revive(store);
    const next = processOver(store);
    const { items } = await next.plans();
    const copies = items.filter(({ lookup_key }) => lookup_key === 'copy');
    if (isThere) {
      assert.is((await next.plan(copies[0]?.id ?? '')).prices?.length, 20);
      assert.is((await rejection(next.clone(id, copy))).code, 'already_exists');
    } else {
      assert.equal(copies, []);
      assert.is((await next.clone(id, copy)).prices?.length, 20);
    }
    assert.is((await next.plan(id)).prices?.length, 20);
  });
}

test.run();

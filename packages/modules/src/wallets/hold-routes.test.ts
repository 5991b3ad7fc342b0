import type { Principal } from '@counterfoil/engine/define';
import {
  type EnvironmentId,
  instantOf,
  invariant,
  type KeyId,
  millisecondsOf,
  type TenantId,
  type UserId,
} from '@counterfoil/kernel';
import { callRoute, memoryWorld, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { customer, customers } from '../customers/index.ts';
import { holdRoutes } from './hold-routes.ts';
import { walletRoutes } from './routes.ts';
import { wallet } from './wallet.ts';

const test = suite('hold routes');

const principal: Principal = {
  tenantId: 'tenant_01' as TenantId,
  environmentId: 'env_01' as EnvironmentId,
  userId: 'user_01' as UserId,
  keyId: 'secret_01' as KeyId,
  roles: ['super_admin'],
  allows: () => true,
};

/** A wallet with 100 credits and ways to hold some of them. */
async function walletWith100() {
  const world = memoryWorld([customer, wallet]);
  const later = (seconds: number) => instantOf(millisecondsOf(world.now) + seconds * 1000);
  const create = customers({ inUse: [] }).routes['POST /customers'];
  invariant(create, 'customers cannot be created');
  const owner = await callRoute(create, world.request(principal), {
    body: { name: 'Ada', external_id: 'ada' },
  });
  const { id } = await callRoute(walletRoutes['POST /wallets'], world.request(principal), {
    body: {
      currency: 'usd',
      customer_id: (owner as { id: string }).id,
      initial_credits_to_load: '100',
    },
  });
  return {
    world,
    later,
    pass: (seconds: number) => {
      world.now = later(seconds);
    },
    hold: (body: object, key?: string) =>
      callRoute(
        holdRoutes['POST /wallets/{id}/holds'],
        world.request(
          principal,
          key === undefined
            ? undefined
            : { key, operation: `POST /wallets/${id}/holds`, fields: {} },
        ),
        { params: { id }, body },
      ),
    end: (hold_id: string) =>
      callRoute(holdRoutes['POST /wallets/{id}/holds/{hold_id}/void'], world.request(principal), {
        params: { id, hold_id },
      }),
    capture: (hold_id: string) =>
      callRoute(
        holdRoutes['POST /wallets/{id}/holds/{hold_id}/capture'],
        world.request(principal),
        { params: { id, hold_id } },
      ),
    balance: () =>
      callRoute(walletRoutes['GET /wallets/{id}/balance/real-time'], world.request(principal), {
        params: { id },
      }),
    terminate: () =>
      callRoute(walletRoutes['POST /wallets/{id}/terminate'], world.request(principal), {
        params: { id },
      }),
  };
}

test('a repeated hold is answered as the first, also when its time is over by then', async () => {
  const { hold, pass, later } = await walletWith100();
  const body = { credits: '10', expires_at: later(60) };
  const first = await hold(body, 'key');
  pass(120);
  assert.equal(await hold(body, 'key'), first);
  assert.is((await rejection(hold(body, 'other'))).code, 'validation_error');
});

test('a voided hold is shown as voided, whatever else expires in the same request', async () => {
  const { hold, end, pass, later } = await walletWith100();
  await hold({ credits: '10', expires_at: later(60) });
  const { id } = await hold({ credits: '20' });
  pass(120);
  const voided = await end(id);
  assert.is(voided.id, id);
  assert.is(voided.hold_status, 'voided');
  assert.is(voided.credits, '20');
});

test('holds whose time is over do not stop a wallet from being terminated', async () => {
  const { hold, terminate, pass, later } = await walletWith100();
  await hold({ credits: '10', expires_at: later(60) });
  assert.is((await rejection(terminate())).code, 'invalid_operation');
  pass(120);
  assert.is((await terminate()).wallet_status, 'closed');
});

test('a hold whose time is over does not lower the real-time balance, booked or not', async () => {
  const { hold, balance, pass, later } = await walletWith100();
  await hold({ credits: '10', expires_at: later(60) });
  assert.is((await balance()).real_time_credit_balance, '90');
  pass(120);
  assert.is((await balance()).real_time_credit_balance, '100');
  assert.is((await balance()).credits_held, '10', 'it is not booked yet');
});

test('a hold of no wallet is not found', async () => {
  const { end, capture } = await walletWith100();
  assert.is((await rejection(end('hold_none'))).code, 'not_found');
  assert.is((await rejection(capture('hold_none'))).code, 'not_found');
});

test.run();

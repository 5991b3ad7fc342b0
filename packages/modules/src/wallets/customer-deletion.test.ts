import { Problem } from '@counterfoil/kernel';
import {
  callRoute,
  type MemoryWorld,
  memoryWorld,
  rejection,
  testPrincipal,
} from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type CustomerRoutes, customer, customers } from '../customers/index.ts';
import { walletRoutes } from './routes.ts';
import { wallet } from './wallet.ts';

const test = suite('a customer is deleted while a wallet is made for it');

const customerRoutes = customers.routes as unknown as CustomerRoutes;
const principal = testPrincipal();
const aggregates = [customer, wallet];

const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof Problem) return error.code;
      throw error;
    },
  );

/** Two processes on one log with a customer. */
async function worldWithCustomer() {
  const world = memoryWorld(aggregates);
  const other = memoryWorld(aggregates, world.store);
  const body = { name: 'Ada', external_id: 'ada' };
  const { id } = await callRoute(customerRoutes['POST /customers'], world.request(principal), {
    body,
  });
  const open = (by: MemoryWorld, key?: string) => {
    const keyed = key === undefined ? undefined : { key, operation: 'POST /wallets', fields: {} };
    return callRoute(walletRoutes['POST /wallets'], by.request(principal, keyed), {
      body: { currency: 'usd', customer_id: id },
    });
  };
  const remove = (by: MemoryWorld) =>
    callRoute(customerRoutes['DELETE /customers/{id}'], by.request(principal), { params: { id } });
  /** The existence of the customer, and the number of its open wallets. */
  const left = async () => {
    const record = await world.request(principal).load(customer, id);
    const wallets = world.store.log.filter(({ type }) => type === 'WalletCreated');
    return { status: record?.status, wallets: wallets.length };
  };
  return { world, other, open, remove, left };
}

/** Runs something right before the nth append from now on is sent. */
function beforeAppend(world: MemoryWorld, number: number, work: () => Promise<unknown>): void {
  const { store } = world;
  const append = store.append.bind(store);
  let count = 0;
  store.append = async (...given) => {
    count += 1;
    if (count === number) await work();
    return append(...given);
  };
}

test('a customer with an open wallet is not deleted; the refusal names the wallet', async () => {
  const { world, open, remove, left } = await worldWithCustomer();
  const { id } = await open(world);
  const refused = await rejection(remove(world));
  assert.is(refused.code, 'invalid_operation');
  assert.match(refused.message, id);
  assert.is((await left()).status, 'published');
});

const appendsMaximum = 8;

test('at whatever moment it is deleted, no open wallet is left of a customer that is gone', async () => {
  const ends = new Set<string>();
  for (let moment = 1; moment <= appendsMaximum; moment += 1) {
    const { world, other, open, remove, left } = await worldWithCustomer();
    let removed = 'not asked';
    beforeAppend(world, moment, async () => {
      removed = await outcomeOf(remove(other));
    });
    const opened = await outcomeOf(open(world));
    const { status, wallets } = await left();
    const end = `${status}, ${wallets} wallets, opening ${opened}, deletion ${removed}`;
    assert.ok(status === 'published' || wallets === 0, `before append ${moment}: ${end}`);
    assert.is(wallets, opened === 'done' ? 1 : 0, end);
    assert.is(status === 'archived', removed === 'done', end);
    ends.add(`${opened} ${removed}`);
  }
  assert.ok(ends.has('invalid_operation done'), [...ends].join());
  assert.ok(ends.has('done not asked'), [...ends].join());
});

test('at whatever moment a wallet is made, the deletion sees it', async () => {
  for (let moment = 1; moment <= appendsMaximum; moment += 1) {
    const { world, other, open, remove, left } = await worldWithCustomer();
    let opened = 'not asked';
    beforeAppend(world, moment, async () => {
      opened = await outcomeOf(open(other, 'key'));
    });
    const removed = await outcomeOf(remove(world));
    const { status, wallets } = await left();
    const end = `${status}, ${wallets} wallets, opening ${opened}, deletion ${removed}`;
    assert.ok(status === 'published' || wallets === 0, `before append ${moment}: ${end}`);
    assert.is(status === 'archived', removed === 'done', end);
  }
});

test.run();

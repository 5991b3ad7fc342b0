import { instantOf, invariant, millisecondsOf } from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { callRoute, memoryWorld, testPrincipal } from '@counterfoil/testkit';
import { customer, customers } from '../customers/index.ts';
import { setting } from '../settings/index.ts';
import { spendableWallet } from './queries.ts';
import { walletRoutes } from './routes.ts';
import { topUpRoutes } from './topups/routes.ts';
import { wallet } from './wallet.ts';

/** A world with one wallet of one customer, for tests of routes. It has 100 free credits. */
export async function walletWorld(body: object = {}) {
  const world = memoryWorld([customer, wallet, setting]);
  const later = (seconds: number) => instantOf(millisecondsOf(world.now) + seconds * 1000);
  /** A request; with a key it is idempotent. */
  const request = (operation = '', key?: string) =>
    world.request(testPrincipal(), key === undefined ? undefined : { key, operation, fields: {} });
  const createCustomer = customers.routes['POST /customers'];
  invariant(createCustomer, 'customers cannot be created');
  await callRoute(createCustomer, request(), { body: { name: 'Ada', external_id: 'ada' } });
  const { id } = await callRoute(walletRoutes['POST /wallets'], request(), {
    body: {
      currency: 'usd',
      external_customer_id: 'ada',
      initial_credits_to_load: '100',
      ...body,
    },
  });
  const ofWallet = { params: { id } };
  return {
    id,
    world,
    request,
    later,
    pass: (seconds: number) => {
      world.now = later(seconds);
    },
    wallet: () => callRoute(walletRoutes['GET /wallets/{id}'], request(), ofWallet),
    /** The credits that can be spent. */
    spendable: async () => (await spendableWallet(request(), id)).spendable,
    entries: async (query: object = {}) => {
      const list = walletRoutes['GET /wallets/{id}/transactions'];
      return (await callRoute(list, request(), { ...ofWallet, query })).items;
    },
    change: (changes: object) =>
      callRoute(walletRoutes['PUT /wallets/{id}'], request(), { ...ofWallet, body: changes }),
    topUp: (top: object, key?: string) => {
      const context = request(`POST /wallets/${id}/top-up`, key);
      return callRoute(walletRoutes['POST /wallets/{id}/top-up'], context, {
        ...ofWallet,
        body: top,
      });
    },
    debit: (credits: string, key?: string) => {
      const context = request(`POST /wallets/${id}/debit`, key);
      return callRoute(walletRoutes['POST /wallets/{id}/debit'], context, {
        ...ofWallet,
        body: { credits },
      });
    },
    freeze: () => callRoute(walletRoutes['POST /wallets/{id}/freeze'], request(), ofWallet),
    terminate: () => callRoute(walletRoutes['POST /wallets/{id}/terminate'], request(), ofWallet),
    complete: (transaction: string, key?: string) =>
      callRoute(
        topUpRoutes['POST /wallets/transactions/{id}/complete'],
        request(`POST /wallets/transactions/${transaction}/complete`, key),
        { params: { id: transaction } },
      ),
    cancel: (transaction: string, key?: string) =>
      callRoute(
        topUpRoutes['POST /wallets/transactions/{id}/cancel'],
        request(`POST /wallets/transactions/${transaction}/cancel`, key),
        { params: { id: transaction } },
      ),
  };
}

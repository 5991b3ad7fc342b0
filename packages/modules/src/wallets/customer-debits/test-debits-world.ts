import { instantOf, invariant, millisecondsOf } from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { callRoute, type MemoryWorld, memoryWorld, testPrincipal } from '@counterfoil/testkit';
import { customer, customers } from '../../customers/index.ts';
import { holdRoutes } from '../holds/routes.ts';
import { walletRoutes } from '../routes.ts';
import { wallet } from '../wallet.ts';
import { customerDebits, customerDebitsId } from './customer-debits.ts';
import { customerDebitRoutes } from './routes.ts';

const aggregates = [customer, wallet, customerDebits];

/** A world with one customer, for tests of its debits. Several processes may work on its log. */
export async function debitsWorld() {
  const world = memoryWorld(aggregates);
  const createCustomer = customers.routes['POST /customers'];
  invariant(createCustomer, 'customers cannot be created');
  const principal = testPrincipal();
  const made = await callRoute(createCustomer, world.request(principal), {
    body: { name: 'Ada', external_id: 'ada' },
  });
  const customerId = (made as { id: string }).id;
  const request = (by: MemoryWorld = world, operation = '', key?: string, fields: object = {}) =>
    by.request(
      principal,
      key === undefined ? undefined : { key, operation, fields: { ...fields } },
    );
  const pass = (seconds: number): void => {
    world.now = instantOf(millisecondsOf(world.now) + seconds * 1000);
  };
  const stateOf = async (id: string) => {
    const state = await request().load(wallet, id);
    invariant(state, `there is no ${id}`);
    return state;
  };
  return {
    world,
    customerId,
    request,
    stateOf,
    /** The stream of the customer's debits. */
    debitsId: customerDebitsId(customerId, 'usd' as never),
    another: () => memoryWorld(aggregates, world.store),
    pass,
    /** Makes a wallet with credits, a second after the one before it. */
    open: async (credits: string, body: object = {}): Promise<string> => {
      pass(1);
      const given = { currency: 'usd', customer_id: customerId, allow_multiple: true };
      const { id } = await callRoute(walletRoutes['POST /wallets'], request(), {
        body: { ...given, initial_credits_to_load: credits, ...body },
      });
      return id;
    },
    debit: (body: object, key?: string, by?: MemoryWorld) =>
      callRoute(
        customerDebitRoutes['POST /customers/{id}/debit'],
        request(by, `POST /customers/${customerId}/debit`, key, body),
        { params: { id: customerId }, body: { currency: 'usd', ...body } },
      ),
    debitOne: (id: string, credits: string, by?: MemoryWorld) =>
      callRoute(walletRoutes['POST /wallets/{id}/debit'], request(by), {
        params: { id },
        body: { credits },
      }),
    hold: (id: string, credits: string) =>
      callRoute(holdRoutes['POST /wallets/{id}/holds'], request(), {
        params: { id },
        body: { credits },
      }),
    call: (route: keyof typeof walletRoutes, id: string, body: object = {}) =>
      callRoute(walletRoutes[route], request(), { params: { id }, body }),
    /** The balances of wallets, and what is held of each. */
    balances: async (...ids: readonly string[]) => {
      const states = await Promise.all(ids.map(stateOf));
      return states.map(({ credit_balance, holds }) =>
        holds.length === 0 ? credit_balance : `${credit_balance} with ${holds.length} held`,
      );
    },
    /** The types of all events of a stream, those that the engine keeps included. */
    events: (id: string) =>
      world.store.log.filter(({ stream }) => stream.endsWith(`.${id}`)).map(({ type }) => type),
  };
}

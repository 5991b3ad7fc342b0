import { callRoute } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { walletListRoutes } from './list-routes.ts';
import { walletRoutes } from './routes.ts';
import { walletWorld } from './test-wallet-world.ts';

const test = suite('lists of wallets');

test('all wallets are listed, in pages and by whether they raise alerts', async () => {
  const { request, wallet } = await walletWorld();
  const list = (query: object) => callRoute(walletListRoutes['GET /wallets'], request(), { query });
  const page = await list({ limit: '1' });
  assert.equal(page.items, [await wallet()]);
  assert.is((await list({ alert_enabled: 'true' })).pagination.total, 0);
});

test('entries show the wallet and the customer that they belong to when they are asked to', async () => {
  const { entries, request, wallet } = await walletWorld();
  const [entry] = await entries();
  assert.equal([entry?.wallet, entry?.customer, entry?.created_by_user], Array(3).fill(undefined));
  const [expanded] = await entries({ expand: 'wallet,customer,created_by_user' });
  assert.equal(expanded?.wallet, await wallet());
  assert.equal(
    [expanded?.customer?.external_id, expanded?.customer?.id],
    ['ada', entry?.customer_id],
  );
  assert.is(expanded?.created_by_user, undefined, 'nobody that this world knows');
  const search = walletRoutes['POST /wallets/transactions/search'];
  const found = await callRoute(search, request(), { body: { expand: ['customer'] } });
  assert.equal(found.items, [{ ...entry, customer: expanded?.customer }]);
});

test('a name that entries have no records for is refused with those that there are', () => {
  const { query } = walletRoutes['GET /wallets/{id}/transactions'];
  const issue = query?.safeParse({ expand: 'wallet,invoice' }).error?.issues[0];
  assert.equal(issue?.path, ['expand', 1]);
  const known = ['wallet', 'customer', 'created_by_user'];
  assert.equal(issue?.code === 'invalid_value' && issue.values, known);
});

test('wallets are found by their customer, currency, type and state, and nobody has those of others', async () => {
  const { request, wallet } = await walletWorld();
  const { customer_id } = await wallet();
  const search = walletRoutes['POST /wallets/search'];
  for (const [filter, found] of [
    [{ customer_id }, 1],
    [{ customer_id: 'cust_00000000000000000000000000' }, 0],
    [{ external_customer_id: 'ada' }, 1],
    [{ external_customer_id: 'nobody' }, 0],
    [{ customer_id, external_customer_id: 'nobody' }, 0],
    [{ currency: 'USD' }, 1],
    [{ currency: 'eur' }, 0],
    [{ wallet_status: 'active' }, 1],
    [{ wallet_status: 'frozen' }, 0],
    [{ status: 'active' }, 1],
    [{ status: 'closed' }, 0],
    [{ status: 'published' }, 1],
    [{ wallet_type: 'PRE_PAID' }, 1],
    [{ wallet_type: 'POST_PAID' }, 0],
  ] as const) {
    const listed = await callRoute(walletListRoutes['GET /wallets'], request(), { query: filter });
    const searched = await callRoute(search, request(), { body: filter });
    const totals = [listed.pagination.total, searched.pagination.total];
    assert.equal(totals, [found, found], JSON.stringify(filter));
  }
});

test.run();

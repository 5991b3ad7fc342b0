import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { type AnyRoute, route } from '../define/route.ts';
import { operationId } from './operation-id.ts';

const test = suite('operation ids');

const single = route({
  tag: 'things',
  summary: 'A thing',
  status: 200,
  permission: null,
  response: z.object({ id: z.string() }),
  handle: async () => ({ id: '1' }),
});
const idOf = (key: string, of: AnyRoute = single): string => {
  const [method = '', path = ''] = key.split(' ');
  const pathWords = { secrets: '', costs: 'cost-sheets' };
  return operationId({ method: method as 'GET', path, route: of }, pathWords);
};

for (const [key, id] of Object.entries({
  'POST /wallets': 'createWallet',
  'GET /wallets': 'listWallets',
  'GET /wallets/{id}/holds': 'getWalletHolds',
  'GET /feed': 'getFeed',
  'GET /wallets/{id}': 'getWallet',
  'PUT /wallets/{id}': 'updateWallet',
  'PATCH /wallets/{id}': 'patchWallet',
  'DELETE /wallets/{id}': 'deleteWallet',
  'POST /wallets/search': 'queryWallet',
  'POST /wallets/{id}/debit': 'debitWallet',
  'POST /wallets/{id}/top-up': 'topUpWallet',
  'POST /wallets/{id}/transactions/bulk': 'createWalletTransactionsBulk',
  'POST /wallets/{id}/holds': 'createWalletHold',
  'POST /wallets/{id}/holds/{hold_id}/capture': 'captureWalletHold',
  'GET /customers/{id}/entitlements': 'getCustomerEntitlements',
  'GET /customers/external/{external_id}': 'getCustomerByExternalId',
  'POST /taxes/rates': 'createTaxRate',
  'GET /secrets/api/keys/{id}': 'getApiKey',
  'DELETE /costs/{id}': 'deleteCostSheet',
})) {
  test(`${key} is ${id}`, () => assert.is(idOf(key), id));
}

test('a route may have a name of its own', () => {
  assert.is(idOf('GET /wallets/{id}', { ...single, operationId: 'findWallet' }), 'findWallet');
});

test.run();

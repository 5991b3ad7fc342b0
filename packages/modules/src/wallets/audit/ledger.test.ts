import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { walletWorld } from '../test-wallet-world.ts';
import { auditRoutes } from './routes.ts';

const test = suite('the ledger of a wallet');

/** A wallet whose log keeps a refused request and one that changed nothing; and pages of its ledger. */
async function answered() {
  const { id, debit, request, topUp, complete } = await walletWorld();
  await rejection(debit('1000', 'too much'));
  const { wallet_transaction: order } = await topUp({
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    credits_to_add: '5',
  });
  await complete(order.id);
  await complete(order.id, 'once more');
  await debit('1');
  return (query: object) =>
    callRoute(auditRoutes['GET /wallets/{id}/ledger'], request(), { params: { id }, query });
}

test('it has every revision, and each item follows the one before it', async () => {
  const page = await answered();
  const { items } = await page({});
  assert.equal(
    items.map(({ kind, type }) => [kind, type]),
    [
      ['event', 'WalletCreated'],
      ['event', 'CreditsLoaded'],
      ['refused_request', 'RequestRefused'],
      ['event', 'TopUpRequested'],
      ['event', 'CreditsLoaded'],
      ['request_without_effect', 'RequestWithoutEffect'],
      ['event', 'CreditsDebited'],
    ],
  );
  for (const [index, item] of items.entries()) {
    assert.is(item.revision, index);
    assert.is(item.previous_hash, items[index - 1]?.hash ?? '0'.repeat(64));
  }
  assert.is(items[2]?.data.code, 'invalid_operation');
});

test('a page that holds only requests without effect is not the end', async () => {
  const page = await answered();
  const { items, next_after_revision } = await page({ after_revision: '1', limit: '1' });
  assert.equal([items.length, next_after_revision], [1, 2]);
});

test.run();

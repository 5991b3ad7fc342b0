import type { FillSession } from '@counterfoil/engine/define';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { wallet } from '../../wallets/index.ts';
import { WatchedBalances } from './watched-balances.ts';

const test = suite('watched balances');

const place = { tenantId: 'tenant_1', environmentId: 'env_1', position: '7' };
const customer_id = 'cust_1';

/** A session whose tables are empty, and all that was asked of it. */
function emptyTables() {
  const asked: string[] = [];
  const session = {
    schema: 'usage',
    query: async (text: string) => {
      asked.push(text);
      return { rows: [], count: 0 };
    },
    copy: async () => undefined,
  } as unknown as FillSession;
  return { asked, watched: new WatchedBalances(session) };
}

const follow = (watched: WatchedBalances, type: string, data: object): Promise<void> => {
  const event = { aggregate: wallet.name, aggregate_id: 'wallet_1', type, data };
  type Change = Parameters<WatchedBalances['follow']>[0];
  return watched.follow({ kind: 'record', ...place, event } as unknown as Change, 1);
};

const debit = (watched: WatchedBalances): Promise<void> =>
  follow(watched, 'CreditsDebited', { customer_id });

const isPassed = (watched: WatchedBalances, type: string): boolean =>
  watched.passesBy(wallet.name, type);

test('movements pass by where nobody wants to hear of a balance, once that is known', async () => {
  const { watched, asked } = emptyTables();
  assert.is(isPassed(watched, 'CreditsDebited'), false);
  await debit(watched);
  assert.is(isPassed(watched, 'CreditsDebited'), true);
  assert.is(isPassed(watched, 'HoldReleased'), true);
  asked.length = 0;
  await debit(watched);
  await watched.mark();
  assert.equal(asked, []);
});

test('what may begin the watching of a balance does not, and neither does what is no wallet', async () => {
  const { watched } = emptyTables();
  await debit(watched);
  for (const type of ['WalletCreated', 'WalletSettingsChanged', 'WalletClosed']) {
    assert.is(isPassed(watched, type), false, type);
  }
  assert.is(watched.passesBy('feature', 'CreditsDebited'), false);
});

test('a wallet with an alert is looked at after its batch, and its movements pass by no more', async () => {
  const { watched, asked } = emptyTables();
  await debit(watched);
  const alert_settings = { alert_enabled: true };
  await follow(watched, 'WalletCreated', { customer_id, wallet_type: 'PRE_PAID', alert_settings });
  asked.length = 0;
  await watched.mark();
  assert.is(asked.filter((text) => text.startsWith('update')).length, 1);
  assert.is(isPassed(watched, 'CreditsDebited'), false);
});

test('wallets that are opened one after the other are written together, before anything else is asked', async () => {
  const { watched, asked } = emptyTables();
  const opened = { customer_id, wallet_type: 'PRE_PAID' };
  await debit(watched);
  asked.length = 0;
  for (let count = 0; count < 3; count += 1) await follow(watched, 'WalletCreated', opened);
  assert.equal(asked, []);
  await follow(watched, 'WalletClosed', {});
  const [first = '', second = '', third = ''] = asked.map((text) => text.trim());
  assert.match(first, /^insert into usage.watched_wallet/);
  assert.match(second, /^insert into usage.watched_balance/);
  assert.match(third, /^update usage.watched_balance/);
});

test('after a batch that was rolled back nothing passes by until the tables are read again', async () => {
  const { watched } = emptyTables();
  await debit(watched);
  watched.forget();
  assert.is(isPassed(watched, 'CreditsDebited'), false);
});

test.run();

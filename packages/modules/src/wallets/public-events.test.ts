import { invariant } from '@counterfoil/kernel';
import { callRoute, published } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { customerRecords, customers } from '../customers/index.ts';
import { walletPublicEvents } from './public-events.ts';
import { walletWorld } from './test-wallet-world.ts';
import { wallet } from './wallet.ts';

const test = suite('wallet publications');

test('every message shows the customer as it was at its event, and the wallet its alert level', async () => {
  const world = await walletWorld({ alert_settings: undefined });
  const { customer_id } = await world.wallet();
  const update = customers.routes['PUT /customers'];
  invariant(update, 'customers cannot be changed');
  const rename = (name: string) =>
    callRoute(update, world.request(), { query: { id: customer_id }, body: { name } });
  await rename('Eve');
  await world.debit('30');
  await rename('Ada again');
  await world.freeze();
  await world.terminate();
  const seen = await published(world.request(), walletPublicEvents, wallet, world.id);
  assert.equal(
    seen.map(({ type, body }) => [
      type,
      customerRecords.schema.parse(body.customer).name,
      (body.alert as { current_balance: string } | undefined)?.current_balance,
    ]),
    [
      ['wallet.created', 'Ada', '0'],
      ['wallet.transaction.created', 'Ada', undefined],
      ['wallet.transaction.created', 'Eve', undefined],
      ['wallet.updated', 'Ada again', '70'],
      ['wallet.transaction.created', 'Ada again', undefined],
      ['wallet.terminated', 'Ada again', '0'],
    ],
  );
});

test('an alert level is told on the way down and on the way back (D28)', async () => {
  const critical = { threshold: '20', condition: 'below' };
  const { request, id, debit, topUp } = await walletWorld({
    alert_settings: { alert_enabled: true, critical },
  });
  await debit('90');
  await topUp({ credits_to_add: '50', transaction_reason: 'FREE_CREDIT_GRANT' });
  const seen = await published(request(), walletPublicEvents, wallet, id);
  assert.equal(
    seen.flatMap(({ type, body }) =>
      type.startsWith('wallet.credit_balance.')
        ? [[type, (body.alert as { readonly state: string }).state]]
        : [],
    ),
    [
      ['wallet.credit_balance.dropped', 'in_alarm'],
      ['wallet.credit_balance.recovered', 'ok'],
    ],
  );
});

test('every message is of the declared form', async () => {
  const { request, id, debit, freeze, terminate } = await walletWorld();
  await debit('30');
  await freeze();
  await terminate();
  for (const { type, body } of await published(request(), walletPublicEvents, wallet, id)) {
    const declared = walletPublicEvents.types[type];
    assert.ok(declared, type);
    assert.equal(declared.body.parse(body), body, type);
  }
});

test.run();

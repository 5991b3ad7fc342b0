import { connect, StringCodec } from 'nats';
import { Webhook } from 'standardwebhooks';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { startSink } from '../sink.ts';
import { type SharedStack, sharedStack } from '../stack.ts';

const test = suite('one story through the whole service');

let stack: SharedStack;
/** The resources that a test has opened, to be closed also when it fails. */
const closers: (() => Promise<void>)[] = [];
test.before(async () => {
  stack = await sharedStack();
});
test.after(async () => {
  for (const close of closers) await close();
});

/** The public events of the story, in the order in which they happen. */
const expected = [
  'customer.created',
  'wallet.created',
  'wallet.transaction.created',
  'wallet.transaction.created',
  'wallet.transaction.created',
];

interface Seen {
  readonly type: string;
  /**
   * The status of the API's answer about the event's effect when the subscriber had the event in
   * hand.
   */
  readonly status: number;
}

/** Subscribes as a downstream system does to all of a tenant, and asks the API about each event at once. */
async function subscribe(tenantId: string, ask: (path: string) => Promise<number>) {
  const connection = await connect({ servers: new URL(stack.natsUrl).host });
  const seen: Promise<Seen>[] = [];
  const codec = StringCodec();
  connection.subscribe(`live.billing.v1.${tenantId}.>`, {
    callback: (_error, message) => {
      const {
        event_type: type,
        customer,
        wallet,
        transaction,
      } = JSON.parse(codec.decode(message.data));
      const path = transaction
        ? `/wallets/${wallet.id}/transactions?id=${transaction.id}`
        : wallet
          ? `/wallets/${wallet.id}`
          : `/customers/${customer.id}`;
      seen.push(ask(path).then((status) => ({ type, status })));
    },
  });
  await connection.flush();
  closers.push(() => connection.close());
  return { seen };
}

test('a customer, a wallet and its movements reach HTTP, NATS and a webhook alike', async () => {
  const tenant = await stack.tenant('story');
  const sink = await startSink();
  closers.push(() => sink.close());
  const endpoint = await tenant.ok('POST', '/webhooks/endpoints', { url: sink.url });
  const other = await stack.tenant('story-reader');
  assert.is((await other.call('GET', `/webhooks/endpoints/${endpoint.id}`)).status, 404);

  // Another key of the tenant would wait for nothing: only the order of publishing makes it see.
  const subscription = await subscribe(tenant.tenantId, async (path) => {
    const { status, body } = await tenant.call('GET', path);
    return status === 200 && body.pagination?.total !== 0 ? 200 : 404;
  });

  const customer = await tenant.ok('POST', '/customers', { external_id: 'acme', name: 'Acme' });
  const wallet = await tenant.ok('POST', '/wallets', {
    customer_id: customer.id,
    currency: 'USD',
    initial_credits_to_load: '100',
  });
  assert.is(wallet.credit_balance, '100');
  const topUp = await tenant.ok('POST', `/wallets/${wallet.id}/top-up`, {
    credits_to_add: 50,
    transaction_reason: 'PURCHASED_CREDIT_DIRECT',
  });
  assert.is(topUp.wallet.credit_balance, '150');
  const debit = await tenant.ok('POST', `/wallets/${wallet.id}/debit`, { credits: '30' });
  assert.is(debit.wallet.credit_balance, '120');

  const page = await tenant.ok('GET', `/wallets/${wallet.id}/transactions`);
  assert.equal(
    page.items.map((row: Record<string, string>) => [
      row.credit_balance_before,
      row.credit_balance_after,
    ]),
    [
      ['150', '120'],
      ['100', '150'],
      ['0', '100'],
    ],
  );
  assert.is(page.pagination.total, 3);

  const live = await eventually(() => subscription.seen.length === 5 && subscription.seen);
  assert.equal(
    await Promise.all(live),
    expected.map((type) => ({ type, status: 200 })),
  );
  await eventually(
    () => sink.deliveries.length >= 5,
    () => `${sink.deliveries.length} deliveries`,
  );
  const verifier = new Webhook(endpoint.secret);
  const types = sink.deliveries.map(({ body, headers }) => {
    const verified = verifier.verify(body, headers as Record<string, string>);
    return (verified as { event_type: string }).event_type;
  });
  assert.equal(types.sort(), [...expected].sort());
  const ofWallet = sink.deliveries
    .map(({ body }) => JSON.parse(body))
    .filter(({ transaction }) => transaction)
    .map(({ transaction }) => transaction.credit_balance_after);
  assert.equal(ofWallet, ['100', '150', '120']);
});

test.run();

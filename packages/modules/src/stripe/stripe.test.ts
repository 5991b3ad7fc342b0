import { Problem } from '@counterfoil/kernel';
import { rejection } from '@counterfoil/testkit';
import type { StripeFate } from '@counterfoil/testkit/stripe-server';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { paymentStatusOf } from '../invoices/index.ts';
import { secretKey, stripeWorld } from './test-stripe-world.ts';

const test = suite('payments by Stripe');

const hundred = { lines: [{ amount: '100' }] };
const automatic = { ...hundred, collection_method: 'charge_automatically' } as const;
const card = { payment_method_type: 'CARD' };
const page = { payment_method_type: 'PAYMENT_LINK', success_url: 'https://shop.example/paid' };

/** The minutes after which everything that is under way has been asked about three times. */
const later = ['00:01:00', '00:06:00', '00:21:00'].map((time) => `2026-01-01T${time}.000Z`);

test('a saved card is charged once, and its charge is known by name before it is confirmed', async () => {
  const { invoice, save, pay, server, books, stateOf } = await stripeWorld();
  await save();
  const id = await invoice(hundred);
  server.requests.splice(0);
  const paid = await pay(id, '100', card);
  assert.equal([paid.payment_status, paid.payment_gateway], ['SUCCEEDED', 'stripe']);
  assert.is(paymentStatusOf(await stateOf(id)), 'SUCCEEDED');
  assert.equal(books.movements, [
    { charge: String(paid.gateway_payment_id), units: 10_000, currency: 'usd' },
  ]);
  const posts = server.requests.filter(({ method }) => method === 'POST');
  assert.equal(
    posts.map(({ path }) => path.replace(/pi_\d+/, 'pi')),
    ['/v1/payment_intents', '/v1/payment_intents/pi/confirm'],
  );
  assert.equal(server.faults, []);
});

/** Ways in which each request of a charge may be met, besides an answer. */
const fates: readonly StripeFate[] = [
  'is cut off before',
  'is cut off unheard',
  'fails before',
  'fails unheard',
  'is too busy',
];

for (const fate of fates) {
  test(`whichever request ${fate}, the card is charged once, also when every checkpoint is lost and keys are forgotten`, async () => {
    for (let hit = 1, isHit = true; isHit; hit += 1) {
      const { invoice, save, server, books, pass, settle, stateOf, another } = await stripeWorld();
      await save();
      const id = await invoice(automatic);
      let seen = 0;
      server.fate = () => {
        seen += 1;
        return seen === hit ? fate : 'answers';
      };
      await settle().catch(unavailable);
      for (const at of later) await pass(at).catch(unavailable);
      server.forgetKeys();
      await settle(another());
      isHit = seen >= hit;
      assert.is(books.balance, 10_000, `request ${hit}`);
      assert.is(paymentStatusOf(await stateOf(id)), 'SUCCEEDED', `request ${hit}`);
      assert.equal(server.faults, []);
    }
  });
}

/** Stripe's silence is no outcome: whoever asked hears that, and nothing else may be thrown. */
const unavailable = (error: unknown): void => {
  const isKnown =
    error instanceof Problem || (error instanceof Error && error.name === 'ProviderUnavailable');
  if (!isKnown) throw error;
};

test('wherever the process dies, the card is charged once', async () => {
  for (const fate of ['unavailable', 'written_unheard'] as const) {
    for (let last = 1, isWhole = false; !isWhole; last += 1) {
      const { invoice, save, world, server, books, settle, stateOf, another } = await stripeWorld();
      await save();
      const id = await invoice(automatic);
      let appended = 0;
      world.store.fate = () => {
        appended += 1;
        return appended > last ? 'unavailable' : appended === last ? fate : 'written';
      };
      await settle().catch(unavailable);
      isWhole = appended < last;
      world.store.fate = () => 'written';
      server.forgetKeys();
      await settle(another());
      assert.is(books.balance, 10_000, `${fate} at append ${last}`);
      assert.is(paymentStatusOf(await stateOf(id)), 'SUCCEEDED', `${fate} at append ${last}`);
    }
  }
});

test('of what has ended Stripe is not asked again, however often the log is read', async () => {
  const { invoice, save, settle, another, server, stateOf } = await stripeWorld();
  await save();
  const id = await invoice(automatic);
  await settle();
  assert.is(paymentStatusOf(await stateOf(id)), 'SUCCEEDED');
  server.requests.splice(0);
  await settle(another());
  assert.equal(server.requests, []);
});

test('a declined card fails, its charge is cancelled, and the schedule tries again with another', async () => {
  const { invoice, save, books, settle, pass, stateOf, server } = await stripeWorld();
  await save('declines');
  const id = await invoice(automatic);
  await settle();
  assert.is(paymentStatusOf(await stateOf(id)), 'FAILED');
  assert.equal(
    [...books.intents.values()].map(({ status }) => status),
    ['canceled'],
  );
  await save();
  await pass('2026-01-02T00:00:00.000Z');
  assert.is(paymentStatusOf(await stateOf(id)), 'SUCCEEDED');
  assert.is(books.balance, 10_000);
  assert.equal(server.faults, []);
});

test('a bank that wants the customer to confirm, and a customer without a method, fail the payment', async () => {
  const { invoice, save, pay, books } = await stripeWorld();
  const none = await pay(await invoice(hundred), '100', card);
  assert.equal(
    [none.payment_status, none.error_message],
    ['FAILED', 'The customer has saved no payment method.'],
  );
  await save('asks the customer');
  const asked = await pay(await invoice(hundred), '100', card);
  assert.equal(
    [asked.payment_status, asked.error_message],
    ['FAILED', 'The card needs its owner.'],
  );
  assert.is(books.balance, 0);
});

test('a charge that takes days waits, and ends by a webhook, by a question or as it was refused', async () => {
  for (const way of ['webhook', 'question', 'refused'] as const) {
    const { invoice, save, pay, books, hear, pass, settle, paymentOf } = await stripeWorld();
    await save('takes days');
    const { id, ...waiting } = await pay(await invoice(hundred), '100', card);
    assert.is(waiting.payment_status, 'PROCESSING');
    const [charge = ''] = books.intents.keys();
    books.finish(charge, way !== 'refused');
    if (way === 'question') await pass('2026-01-01T00:01:00.000Z');
    else await hear();
    await settle();
    const { payment_status } = await paymentOf(id);
    assert.is(payment_status, way === 'refused' ? 'FAILED' : 'SUCCEEDED', way);
  }
});

test('webhooks that come twice, late, in the wrong order, forged or about others change nothing', async () => {
  const { invoice, pay, books, server, hear, settle, paymentOf, events } = await stripeWorld();
  const { id } = await pay(await invoice(hundred), '100', page);
  const [session = ''] = books.sessions.keys();
  books.useSession(session, 'takes days');
  const [charge = ''] = books.intents.keys();
  books.finish(charge, true);
  const messages = server.takeMessages();
  assert.ok(messages.length >= 3);
  await hear(messages.toReversed());
  await settle();
  assert.is((await paymentOf(id)).payment_status, 'SUCCEEDED');
  const before = events(id).length;
  await hear([...messages, ...messages]);
  const [{ body } = { body: '' }] = messages;
  for (const signature of ['', 'v1=1', server.sign(body, 'whsec_b3RoZXIgc2VjcmV0')]) {
    const refused = await rejection(hear([{ body, signature }]));
    assert.is(refused.code, 'validation_error');
  }
  const strange = JSON.stringify({
    ...JSON.parse(body),
    data: { object: { id: 'x', metadata: null } },
  });
  await hear([{ body: strange, signature: server.sign(strange) }]);
  await settle();
  assert.is(events(id).length, before);
  assert.equal(server.faults, []);
});

test('a page is paid once, saves the card where that is wanted, and ends when it is closed', async () => {
  const { invoice, pay, books, hear, settle, paymentOf, call, customerId, server } =
    await stripeWorld();
  const first = await pay(await invoice(hundred), '100', {
    ...page,
    save_card_and_make_default: true,
  });
  assert.match(String(first.payment_url), /^https:\/\/checkout\.example\/cs_/);
  const [one = ''] = books.sessions.keys();
  books.useSession(one);
  await hear();
  await settle();
  assert.is((await paymentOf(first.id)).payment_status, 'SUCCEEDED');
  const { items } = (await call('GET /payments/customers/{id}/methods', {
    params: { id: customerId },
  })) as unknown as { readonly items: readonly { readonly is_default: boolean }[] };
  assert.equal(
    items.map(({ is_default }) => is_default),
    [true],
  );
  const second = await pay(await invoice(hundred), '100', page);
  books.expire([...books.sessions.keys()].at(-1) ?? '');
  await hear();
  assert.is((await paymentOf(second.id)).payment_status, 'FAILED');
  const third = await pay(await invoice(hundred), '100', page);
  const cancelled = await call('POST /payments/{id}/cancel', { params: { id: third.id } });
  assert.is(cancelled.payment_status, 'FAILED');
  assert.equal(
    [...books.sessions.values()].map(({ status }) => status),
    ['complete', 'expired', 'expired'],
  );
  assert.equal(server.faults, []);
});

test('what a customer saves becomes the usual method; another can be, and methods are removed', async () => {
  const { call, customerId, books, hear, server } = await stripeWorld();
  const setUp = async () => {
    await call('POST /payments/customers/{id}/setup/intent', {
      params: { id: customerId },
      body: { success_url: 'https://shop.example/saved' },
    });
    books.useSession([...books.sessions.keys()].at(-1) ?? '');
    await hear();
  };
  const usual = async () => {
    const { items } = (await call('GET /payments/customers/{id}/methods', {
      params: { id: customerId },
    })) as unknown as {
      readonly items: readonly { readonly id: string; readonly is_default: boolean }[];
    };
    return items.map(({ id, is_default }) => `${id}${is_default ? ' usual' : ''}`);
  };
  await setUp();
  await setUp();
  const [one = '', other = ''] = [...books.methods.keys()];
  assert.equal(await usual(), [`${other} usual`, one]);
  const params = { id: customerId, method_id: one };
  await call('PUT /payments/customers/{id}/methods/{method_id}/default', { params });
  assert.equal(await usual(), [other, `${one} usual`]);
  await call('DELETE /payments/customers/{id}/methods/{method_id}', { params });
  assert.equal(await usual(), [`${other} usual`]);
  const missing = { params: { ...params, method_id: 'pm_none' } };
  const path = '/payments/customers/{id}/methods/{method_id}';
  assert.is((await rejection(call(`DELETE ${path}`, missing))).code, 'not_found');
  assert.equal(server.faults, []);
});

test('who asks for methods while Stripe is away hears that it is', async () => {
  const { call, customerId, save, server } = await stripeWorld();
  await save();
  server.fate = () => 'fails before';
  const asked = call('GET /payments/customers/{id}/methods', { params: { id: customerId } });
  assert.is((await rejection(asked)).code, 'service_unavailable');
});

test('credentials are sealed, shown by their end alone, tried when they are set, and can be taken away', async () => {
  const { call, setAccount, world, invoice, pay, save } = await stripeWorld();
  const path = '/payments/providers/stripe';
  const shown = await call(`GET ${path}`);
  assert.equal([shown.is_set, shown.is_on, shown.key_hint], [true, true, 'sk_test_…p7dc']);
  const logged = JSON.stringify(world.store.log, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  assert.not.match(logged, secretKey);
  assert.not.match(logged, 'whsec_');
  const wrong = await rejection(setAccount({ secret_key: 'sk_test_wrong_key_of_nobody' }));
  assert.is(wrong.errors?.[0]?.pointer, '/secret_key');
  await save();
  await call(`DELETE ${path}`);
  const refused = await rejection(pay(await invoice(hundred), '100', card));
  assert.is(refused.details?.reason, 'no_payment_provider');
  assert.is((await call(`GET ${path}`)).is_set, false);
});

test.run();

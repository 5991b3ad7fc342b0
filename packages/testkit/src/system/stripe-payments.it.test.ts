import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import type { StripeMessage, StripeServer } from '../stripe-server/index.ts';

const test = suite('payments by Stripe, from the saved card to the refund');

const secretKey = 'sk_test_systemtest0123456789';
let stack: SharedStack;
let tenant: TestTenant;
let stripe: StripeServer;

test.before(async () => {
  stack = await sharedStack();
  stripe = await stack.stripe.server();
  tenant = await stack.tenant('stripe-payments');
});

/** Sends webhooks to the service as Stripe does. Returns the statuses of the answers. */
const send = (messages: readonly StripeMessage[]): Promise<number[]> => {
  const { tenantId, environmentId } = tenant;
  const url = `${stack.baseUrl}/v1/webhooks/stripe/${tenantId}/${environmentId}`;
  return Promise.all(
    messages.map(async ({ body, signature }) => {
      const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
      return (await fetch(url, { method: 'POST', headers, body })).status;
    }),
  );
};

const invoiceOf = (customer_id: string) =>
  tenant.ok('POST', '/invoices', {
    ...{ customer_id, currency: 'usd', subtotal: '100', total: '100', amount_due: '100' },
  });

const shows = (path: string, field: string, value: string): Promise<unknown> =>
  eventually(
    async () => (await tenant.ok('GET', path))[field] === value,
    () => `${path} never showed ${field} ${value}`,
  );

test('a customer saves a card, is charged once, pays on a page, and gets a part back', async () => {
  const refused = await tenant.call('POST', '/payments/customers/none/setup/intent', {
    success_url: 'https://shop.example/saved',
  });
  assert.is(refused.status, 404);
  await tenant.ok('PUT', '/payments/providers/stripe', {
    secret_key: secretKey,
    webhook_secret: stripe.webhookSecret,
  });
  const { id: customer } = await tenant.ok('POST', '/customers', {
    name: 'Ada',
    external_id: 'ada',
  });
  const setup = `/payments/customers/${customer}/setup/intent`;
  const { checkout_session_id: session } = await tenant.ok('POST', setup, {
    success_url: 'https://shop.example/saved',
  });
  const books = stripe.booksOf(secretKey);
  books.useSession(session);
  assert.equal(await send(stripe.takeMessages()), [200]);
  const { items } = await tenant.ok('GET', `/payments/customers/${customer}/methods`);
  assert.equal(
    items.map(({ last4, is_default }: Record<string, unknown>) => [last4, is_default]),
    [['4242', true]],
  );

  // The answer of the confirmation is lost: the money is there, and nobody has said so.
  let isCut = false;
  stripe.fate = ({ path }) => {
    if (isCut || !path.endsWith('/confirm')) return 'answers';
    isCut = true;
    return 'is cut off unheard';
  };
  const { id: automatic } = await invoiceOf(customer);
  await tenant.ok('POST', `/invoices/${automatic}/payment/attempt`);
  await eventually(
    async () => isCut,
    () => 'the card was never charged',
  );
  const messages = stripe.takeMessages();
  assert.equal(new Set(await send([...messages, ...messages].toReversed())), new Set([200]));
  await shows(`/invoices/${automatic}`, 'payment_status', 'SUCCEEDED');
  assert.is(books.balance, 10_000);

  const { id: other } = await invoiceOf(customer);
  const { id: link, payment_url } = await tenant.ok('POST', '/payments', {
    ...{ destination_type: 'INVOICE', destination_id: other, payment_method_type: 'PAYMENT_LINK' },
    ...{ amount: '100', currency: 'usd', success_url: 'https://shop.example/paid' },
  });
  assert.match(payment_url, /^https:/);
  books.useSession([...books.sessions.keys()].at(-1) ?? '');
  const [first = { body: '', signature: '' }, ...rest] = stripe.takeMessages();
  assert.equal(await send([{ ...first, signature: rest[0]?.signature ?? '' }]), [400]);
  assert.equal(new Set(await send([...rest.toReversed(), first])), new Set([200]));
  await shows(`/invoices/${other}`, 'payment_status', 'SUCCEEDED');
  assert.is(books.balance, 20_000);

  const back = await tenant.ok('POST', `/payments/${link}/refund`, { amount: '40' });
  assert.equal(
    [back.payment_status, back.refunds[0].refund_status],
    ['PARTIALLY_REFUNDED', 'SUCCEEDED'],
  );
  assert.is(books.balance, 16_000);
  assert.equal(stripe.faults, []);
});

test('nobody who is not Stripe is heard', async () => {
  const other = await stack.tenant('stripe-payments-other');
  const body = '{"id":"evt_1","object":"event","type":"x","data":{"object":{}}}';
  const signed = { body, signature: stripe.sign(body, 'whsec_b3RoZXIgc2VjcmV0') };
  assert.equal(await send([signed, { body, signature: '' }]), [400, 400]);
  const path = `/v1/webhooks/stripe/${other.tenantId}/`;
  for (const environment of [other.environmentId, 'env_none']) {
    const answer = await fetch(`${stack.baseUrl}${path}${environment}`, { method: 'POST', body });
    assert.is(answer.status, 404);
  }
  const large = await fetch(`${stack.baseUrl}${path}${other.environmentId}`, {
    method: 'POST',
    body: 'x'.repeat(300_000),
  });
  assert.is(large.status, 413);
});

test.run();

// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { testPrincipal } from '@counterfoil/testkit';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { StripeServer } from '@counterfoil/testkit/stripe-server';
import { createSealer } from '@counterfoil/webhooks';
import { paidWorld } from '../test-paid-world.ts';
import { stripe, stripeProvider, takeStripeNotice } from './index.ts';

export const secretKey = 'sk_test_4eC39HqLyjWDarjtT1zdp7dc';

/** A world whose environment takes money at a Stripe that is a server in memory. */
export async function stripeWorld() {
  const server = new StripeServer();
  const options = {
    sealer: createSealer(Buffer.alloc(32, 7).toString('base64')),
    fetch: server.fetch,
  };
  const provider = stripeProvider(options);
  const slice = stripe({ ...options, isOn: true });
  const paid = await paidWorld({ provider, more: [slice] });
  const { call, customerId, world } = paid;
  const path = '/payments/providers/stripe';
  const setAccount = (body: object = {}) =>
    call(`PUT ${path}`, {
      body: { secret_key: secretKey, webhook_secret: server.webhookSecret, ...body },
    });
  await setAccount();
  const books = server.booksOf(secretKey);
  /** Has the customer save a method on a page of Stripe. */
  const save = async (manner: Parameters<typeof books.saveMethod>[1] = 'pays'): Promise<string> => {
    await call('POST /payments/customers/{id}/setup/intent', {
      params: { id: customerId },
      body: { success_url: 'https://shop.example/saved' },
    });
    const [customer = ''] = books.customers.keys();
    return books.saveMethod(customer, manner).id;
  };
  return {
    ...paid,
    server,
    books,
    provider,
    setAccount,
    save,
    /** Hands webhooks over as Stripe sends them. */
    hear: async (messages = server.takeMessages()): Promise<void> => {
      for (const { body, signature } of messages) {
        const context = world.request(testPrincipal());
        const notice = { bytes: Buffer.from(body), signature };
        await takeStripeNotice(context, notice, provider, options);
      }
    },
  };
}

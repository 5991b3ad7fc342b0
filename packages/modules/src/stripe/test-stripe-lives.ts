import { decimal, textOf, zero } from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import type { StripeFate } from '@counterfoil/testkit/stripe-server';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import fc from 'fast-check';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import * as assert from 'uvu/assert';
import { payment } from '../payments/index.ts';
import { stripeWorld } from './test-stripe-world.ts';

/** An act in the life of an invoice that a card is to pay. */
type Act =
  | {
      readonly kind:
        | 'settle'
        | 'read the log again'
        | 'forget keys'
        | 'collect'
        | 'refund'
        | 'page';
    }
  | { readonly kind: 'pass'; readonly minutes: number }
  | { readonly kind: 'hear'; readonly isTwice: boolean; readonly isReversed: boolean }
  | { readonly kind: 'lose webhooks' }
  | { readonly kind: 'bank'; readonly isPaid: boolean };

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.constantFrom(
    { kind: 'settle' } as const,
    { kind: 'read the log again' } as const,
    { kind: 'forget keys' } as const,
    { kind: 'collect' } as const,
    { kind: 'refund' } as const,
    { kind: 'refund' } as const,
    { kind: 'page' } as const,
    { kind: 'lose webhooks' } as const,
  ),
  fc.record({ kind: fc.constant('pass' as const), minutes: fc.integer({ min: 1, max: 3_000 }) }),
  fc.record({
    kind: fc.constant('hear' as const),
    isTwice: fc.boolean(),
    isReversed: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('bank' as const), isPaid: fc.boolean() }),
);

const fate: fc.Arbitrary<StripeFate> = fc.oneof(
  { arbitrary: fc.constant('answers' as const), weight: 2 },
  {
    arbitrary: fc.constantFrom<StripeFate>(
      'is cut off before',
      'is cut off unheard',
      'fails before',
      'fails unheard',
      'is too busy',
    ),
    weight: 1,
  },
);

const manner = fc.constantFrom(
  'pays' as const,
  'declines' as const,
  'takes days' as const,
  'asks the customer' as const,
);

/** A life of an invoice: the card that pays it, what is done, and the ways in which Stripe meets the requests. */
export const stripeLife = fc.record({
  manner,
  acts: fc.array(act, { minLength: 4, maxLength: 16 }),
  fates: fc.array(fate, { minLength: 10, maxLength: 60 }),
});
type StripeLife = typeof stripeLife extends fc.Arbitrary<infer Life> ? Life : never;

/** Lives a life through, lets everything come to its end, and holds Stripe's books against ours. */
export async function live({ manner: kind, acts, fates }: StripeLife): Promise<void> {
  const world = await stripeWorld();
  const { server, settle } = world;
  await world.save(kind);
  const id = await world.invoice({
    lines: [{ amount: '100' }],
    collection_method: 'charge_automatically',
  });
  let asked = 0;
  server.fate = () => {
    asked += 1;
    return fates[asked - 1] ?? 'answers';
  };
  for (const each of acts) await perform(world, id, each).catch(unlessRefused);
  server.fate = () => 'answers';
  await comeToTheEnd(world);
  await settle(world.another());
  await assertBooksAgree(world);
  assert.equal(server.faults, []);
}

/**
 * Three rounds of the schedule at least, and then as many as charges are still under way: what one
 * round tries again may take days as well, and a page that closes unpaid leaves its part to the next.
 */
async function comeToTheEnd(world: World): Promise<void> {
  const { books, settle } = world;
  for (let round = 1; round <= mostRounds; round += 1) {
    await settle();
    const underWay = [...books.intents.values()].filter(({ status }) => status === 'processing');
    const open = [...books.sessions.values()].filter(
      ({ status, mode }) => status === 'open' && mode === 'payment',
    );
    if (round > 3 && underWay.length + open.length === 0) return;
    for (const { id } of underWay) books.finish(id, true);
    for (const { id } of open) books.expire(id);
    await passMinutes(world, 4_000);
  }
}

/** The collection gives up after fewer attempts than this. */
const mostRounds = 12;

type World = Awaited<ReturnType<typeof stripeWorld>>;

async function perform(world: World, id: string, doing: Act): Promise<void> {
  const { server, books, call, settle } = world;
  switch (doing.kind) {
    case 'settle':
      return settle();
    case 'read the log again':
      return settle(world.another());
    case 'forget keys':
      return server.forgetKeys();
    case 'collect':
      await call('POST /invoices/{id}/payment/attempt', { params: { id } });
      return;
    case 'page':
      await world.pay(id, '40', {
        payment_method_type: 'PAYMENT_LINK',
        success_url: 'https://shop.example/paid',
      });
      return;
    case 'refund': {
      const paid = await paymentsOf(world);
      const one = paid.find(({ charge }) => charge !== null);
      if (one) {
        await call('POST /payments/{id}/refund', {
          params: { id: one.id },
          body: { amount: '10' },
        });
      }
      return;
    }
    case 'pass':
      return passMinutes(world, doing.minutes);
    case 'lose webhooks':
      server.takeMessages();
      return;
    case 'hear': {
      const came = server.takeMessages();
      const messages = doing.isTwice ? [...came, ...came] : came;
      return world.hear(doing.isReversed ? messages.toReversed() : messages);
    }
    case 'bank':
      for (const { id: charge, status } of books.intents.values()) {
        if (status === 'processing') books.finish(charge, doing.isPaid);
      }
      return;
    default:
      return doing satisfies never;
  }
}

const passMinutes = ({ world, pass }: World, minutes: number): Promise<void> =>
  pass(new Date(Date.parse(world.now) + minutes * 60_000).toISOString());

/** Callers hear that something is not possible, or not known now; anything else is a fault. */
function unlessRefused(error: unknown): void {
  const name = error instanceof Error ? error.name : '';
  if (name !== 'Problem' && name !== 'ProviderUnavailable') throw error;
}

async function paymentsOf({ world, request }: World) {
  const ids = world.store.log.flatMap(({ stream, type }) =>
    type === 'PaymentCreated' ? [stream.slice(stream.indexOf('.') + 1)] : [],
  );
  const states = await Promise.all([...new Set(ids)].map((id) => request().load(payment, id)));
  return states.flatMap((state) => state ?? []);
}

/** The money that Stripe has is that of our payments, less what our refunds have given back: to the cent. */
async function assertBooksAgree(world: World): Promise<void> {
  const payments = await paymentsOf(world);
  const brought = payments
    .filter(({ charge, metadata }) => charge !== null && metadata.refund_id === undefined)
    .reduce((sum, { amount }) => sum.plus(decimal(amount)), zero);
  const back = payments
    .flatMap(({ refunds }) => refunds)
    .filter(({ refund_status }) => refund_status === 'SUCCEEDED' || refund_status === 'PROCESSING')
    .reduce((sum, { amount }) => sum.plus(decimal(amount)), zero);
  const ours = textOf(brought.minus(back).times(decimal('100')));
  assert.is(String(world.books.balance), ours);
  const open = payments.filter(({ payment_status }) => payment_status === 'PROCESSING');
  assert.equal(
    open.map(({ attempts }) => attempts.at(-1)?.reference ?? null),
    [],
  );
  const charges = world.books.movements.filter(({ units }) => units > 0);
  assert.is(new Set(charges.map(({ charge }) => charge)).size, charges.length);
}

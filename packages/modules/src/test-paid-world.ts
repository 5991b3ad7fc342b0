import type { AnyRoute, Module, Reaction, Routes } from '@counterfoil/engine/define';
import { type DecimalText, existing, type Instant, invariant } from '@counterfoil/kernel';
import {
  callRoute,
  type MemoryWorld,
  memoryDueRows,
  memoryWorld,
  type RawInput,
  testPrincipal,
  // biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
} from '@counterfoil/testkit';
import { creditNotes } from './credit-notes/index.ts';
import { customers } from './customers/index.ts';
import { invoice, invoices, purchasedAtOnce } from './invoices/index.ts';
import { type PaymentProvider, payment, payments } from './payments/index.ts';
import { settings } from './settings/index.ts';
import { subscriptions } from './subscriptions/index.ts';
import { finalInvoice, type TestInvoice } from './test-final-invoice.ts';
import { wallet, walletsWith } from './wallets/index.ts';

/** A resource as tests look at it. */
export type Shown = Readonly<Record<string, never>> & { readonly id: string };

/** A world with one customer, whose invoices are paid and credited. Several processes may work on its log. */
export async function paidWorld({
  provider = null,
  more = [],
}: {
  readonly provider?: PaymentProvider | null;
  readonly more?: readonly Module[];
} = {}) {
  const paying = payments({ provider });
  const owned = walletsWith(purchasedAtOnce);
  const slices = [
    ...[customers, owned, subscriptions, settings, invoices, paying, creditNotes],
    ...more,
  ];
  const aggregates = slices.flatMap((slice) => slice.aggregates);
  const reactions = slices
    .filter((slice) => [owned, invoices, paying, creditNotes].includes(slice))
    .flatMap((slice) => slice.reactions ?? []);
  const routes: Routes = Object.assign({}, ...slices.map((slice) => slice.routes));
  const world = memoryWorld(aggregates);
  const request = (by: MemoryWorld = world, operation = '', key?: string, fields: object = {}) =>
    by.request(
      testPrincipal(),
      key === undefined ? undefined : { key, operation, fields: { ...fields } },
    );
  /** Calls a route; with a key it is idempotent. */
  const call = async (name: string, { by, key, ...input }: Asked = {}): Promise<Shown> => {
    const route: AnyRoute | undefined = routes[name as never];
    invariant(route, `there is no ${name}`);
    const { id = '' } = (input.params ?? {}) as { readonly id?: string };
    const context = request(by, name.replace('{id}', id), key, (input.body ?? {}) as object);
    return (await callRoute(route, context, input)) as Shown;
  };
  const { id: customerId } = await call('POST /customers', {
    body: { name: 'Ada', external_id: 'ada' },
  });
  let made = 0;
  return {
    world,
    customerId,
    request,
    call,
    reactions,
    another: () => Object.assign(memoryWorld(aggregates, world.store), { now: world.now }),
    /** An invoice that is final; `as` makes several of one world differ. */
    invoice: async (given: Omit<TestInvoice, 'customer_id' | 'id'>): Promise<string> => {
      made += 1;
      const id = `inv_${made}`;
      const events = finalInvoice({ ...given, id, customer_id: customerId });
      await request().execute(invoice, id, () => events);
      return id;
    },
    makeVoid: (id: string) => call('POST /invoices/{id}/void', { params: { id } }),
    wallet: async (credits: string, body: object = {}): Promise<string> => {
      const own = { customer_id: customerId, currency: 'usd', allow_multiple: true };
      const given = { ...own, initial_credits_to_load: credits, ...body };
      return (await call('POST /wallets', { body: given })).id;
    },
    ...actsOf(call),
    stateOf: async (id: string) => existing(await request().load(invoice, id), 'invoice'),
    paymentOf: async (id: string) => existing(await request().load(payment, id), 'payment'),
    balance: async (id: string): Promise<DecimalText> =>
      existing(await request().load(wallet, id), 'wallet').credit_balance,
    /** The balances of the customer's PRE_PAID wallets, oldest first. */
    prepaid: async (): Promise<readonly string[]> => {
      const { items } = (await call('POST /wallets/search', {
        body: { wallet_type: 'PRE_PAID' },
      })) as unknown as { readonly items: readonly { readonly credit_balance: string }[] };
      return items.map(({ credit_balance }) => credit_balance).reverse();
    },
    /** Hands every event to every reaction, until they bring about nothing more. */
    settle: (by: MemoryWorld = world) => settled(by, reactions),
    /** The clock at a later instant, with retries and what follows from them. */
    pass: async (to: string): Promise<void> => {
      world.now = to as Instant;
      for (const work of paying.dueWork ?? []) {
        const rows = memoryDueRows(world.store, work, testPrincipal(), world.now);
        for (const { id } of rows) await work.run(request() as never, id);
      }
      await settled(world, reactions);
    },
    /** The types of the events of a record. */
    events: (id: string): readonly string[] =>
      world.store.log.flatMap(({ stream, type }) => (stream.endsWith(`.${id}`) ? [type] : [])),
  };
}

/** A request to a route; with a key it is idempotent. */
interface Asked extends RawInput {
  readonly by?: MemoryWorld;
  readonly key?: string;
}

const acting = (key: string | undefined, by: MemoryWorld | undefined): Asked => ({
  ...(key === undefined ? {} : { key }),
  ...(by === undefined ? {} : { by }),
});

/** Acts of callers on invoices. */
const actsOf = (call: (name: string, asked: Asked) => Promise<Shown>) => ({
  pay: (invoiceId: string, amount: string, body: object = {}, key?: string, by?: MemoryWorld) =>
    call('POST /payments', {
      ...acting(key, by),
      body: {
        destination_type: 'INVOICE',
        destination_id: invoiceId,
        payment_method_type: 'OFFLINE',
        amount,
        currency: 'usd',
        ...body,
      },
    }),
  credit: (
    invoiceId: string,
    lines: Readonly<Record<string, string>>,
    body: object = {},
    key?: string,
    by?: MemoryWorld,
  ) =>
    call('POST /creditnotes', {
      ...acting(key, by),
      body: {
        invoice_id: invoiceId,
        line_items: Object.entries(lines).map(([invoice_line_item_id, amount]) => ({
          invoice_line_item_id,
          amount,
        })),
        ...body,
      },
    }),
});

async function settled(by: MemoryWorld, reactions: readonly Reaction[]): Promise<void> {
  for (let before = -1; before !== by.store.log.length; ) {
    before = by.store.log.length;
    for (const reaction of reactions) {
      const { name } = reaction.aggregate;
      const ids = by.store.log.flatMap(({ stream }) =>
        stream.startsWith(`${name}-`) ? [stream.slice(stream.indexOf('.') + 1)] : [],
      );
      for (const id of new Set(ids)) await handOver(by, reaction, id);
    }
  }
}

async function handOver(by: MemoryWorld, reaction: Reaction, id: string): Promise<void> {
  const context = by.request(testPrincipal());
  for await (const event of context.history(reaction.aggregate, id)) {
    const { revision } = event;
    const outcome = { events: [event], revision, state: null, replayed: false };
    await context.carryOut(reaction, id, outcome);
  }
}

import { type PublicEvents, type Routes, where } from '@counterfoil/engine/define';
import { type DecimalText, existing, type Instant } from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { callRoute, type MemoryWorld, published, type RawInput } from '@counterfoil/testkit';
import { featureRecords } from '../../features/index.ts';
import {
  balanceRoutesWith,
  invoicesLookedAt,
  type Looking,
  lookAtBalances,
} from '../../ongoing-balances/index.ts';
import { finalInvoice, type TestInvoice } from '../../test-final-invoice.ts';
import { wallet, wallets, walletTable } from '../../wallets/index.ts';
import { invoice } from '../invoice.ts';
import { settlePayment } from '../settling/payments.ts';
import { day, invoiceWorld } from '../test-invoice-world.ts';

export { day };

const [publisher] = wallets.publicEvents as readonly [PublicEvents];

/** The messages about wallets, as they are declared. */
export const declaredMessages = publisher.types;

/** Watches all wallets, and all features that have alerts. */
const everybody: Looking['watching'] = {
  isWanted: async () => true,
  isWatched: async () => true,
  walletsOf: ({ read }, customerId) =>
    read.ids(
      walletTable,
      [...where('customer_id', 'eq', customerId), ...where('wallet_type', 'eq', 'PRE_PAID')],
      100,
    ),
  features: ({ read }) => read.ids(featureRecords.table, [], 100),
};

/** A wallet with its real-time balance, as tests look at it. */
export type ShownBalance = Readonly<Record<string, string>>;

/** The world of invoices, with the balances of wallets less what they are going to pay. */
export async function balanceWorld() {
  const base = await invoiceWorld();
  const routes: Routes = balanceRoutesWith(base.usage);
  const asked = async (name: string, input: RawInput, by?: MemoryWorld): Promise<unknown> =>
    callRoute(existing(routes[name as never] ?? null, name), base.request(by), input);
  const balanceOf = async (id: string, by?: MemoryWorld) =>
    (await asked('GET /wallets/{id}/balance/real-time', { params: { id } }, by)) as ShownBalance;
  let made = 0;
  const looking: Looking = { usage: base.usage, watching: everybody };
  const looked = invoicesLookedAt(looking);
  /** Calls a route of the world with an id in its path. */
  const post = (path: string, body: object) => {
    const [, slice, id, tail] = /^\/(wallets)\/([^/]+)\/(.+)$/.exec(path) ?? [];
    return id === undefined
      ? base.post(path, body)
      : base.call(`POST /${slice}/{id}/${tail}`, { params: { id }, body });
  };
  return {
    ...base,
    post,
    /** Answers a route of the balances. */
    asked,
    balanceOf,
    /** The balance in the currency and in credits, with the usage and the invoices that are taken off it. */
    figures: async (id: string, by?: MemoryWorld): Promise<string> => {
      const shown = await balanceOf(id, by);
      const { real_time_balance: money, real_time_credit_balance: credits } = shown;
      return `${money} ${credits}: ${shown.current_period_usage} ${shown.unpaid_invoices_amount}`;
    },
    archive: (featureId: string) =>
      base.call('DELETE /features/{id}', { params: { id: featureId } }),
    change: (id: string, body: object) => base.call('PUT /wallets/{id}', { params: { id }, body }),
    /** A wallet for some kinds of charges. */
    walletFor: async (credits: string, types: readonly string[], body: object = {}) => {
      const { id } = await base.wallet(credits, { allow_multiple: true, ...body });
      const config = { allowed_price_types: types };
      await base.call('PUT /wallets/{id}', { params: { id }, body: { config } });
      return id;
    },
    /** An invoice of the customer that is final. */
    billed: async (given: Omit<TestInvoice, 'customer_id' | 'id'>): Promise<string> => {
      made += 1;
      const id = `inv_${made}`;
      const events = finalInvoice({ ...given, id, customer_id: base.customerId });
      await base.request().execute(invoice, id, () => events);
      return id;
    },
    /** Money that has come for an invoice. */
    received: (id: string, amount: string) => {
      made += 1;
      const money = { payment_id: `pay_${made}`, method: 'OFFLINE' as const };
      const settled = settlePayment({ ...money, amount: amount as DecimalText });
      return base.request().execute(invoice, id, settled);
    },
    /** A look at the balances of the customer, as a mark brings it about. */
    look: (by?: MemoryWorld) => lookAtBalances(base.request(by), base.customerId as never, looking),
    /** Hands the events of an invoice to the reaction that looks after each. */
    lookAfter: async (id: string): Promise<void> => {
      const context = base.request();
      for await (const event of context.history(invoice, id)) {
        const { revision } = event;
        const outcome = { events: [event], revision, state: null, replayed: false };
        await context.carryOut(looked, id, outcome);
      }
    },
    /** The types and bodies of the messages about a wallet, those about its entries left out. */
    messages: async (id: string) =>
      (await published(base.request(), publisher, wallet, id)).filter(
        ({ type }) => !/^wallet\.(created|updated|transaction\.created)$/.test(type),
      ),
    stateOf: async (id: string) => existing(await base.request().load(wallet, id), 'wallet'),
    at: (instant: Instant): void => {
      base.world.now = instant;
    },
  };
}

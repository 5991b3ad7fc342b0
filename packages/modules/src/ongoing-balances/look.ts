import { type FactWork, reaction, type WorkContext } from '@counterfoil/engine/define';
import type { Currency } from '@counterfoil/kernel';
import { feature } from '../features/index.ts';
import { invoice, type UsageReadings } from '../invoices/index.ts';
import { usageTables, watchedBalances } from '../usage/index.ts';
import {
  type AlertingFeature,
  judgeOngoing,
  type SeenBalance,
  spendingOf,
  type Wallet,
  wallet,
} from '../wallets/index.ts';
import { ongoingBalances } from './balances.ts';
import type { Watching } from './watching.ts';

/** Everything that a look is made with. */
export interface Looking {
  readonly usage: UsageReadings;
  readonly watching: Watching;
}

/** Looks before it is tried again later: a wallet that changes all the time is looked at when it rests. */
const looksMaximum = 3;

/**
 * Looks at the balances of a customer less what is going to be paid, and has each of the wallets judge its own (ADR 48). What a wallet
 * has judged already, it judges no other way: to look again does nothing.
 *
 * @param only a currency; null: all that the customer has prepaid wallets of
 */
export async function lookAtBalances(
  context: WorkContext,
  customerId: Wallet['customer_id'],
  { usage, watching }: Looking,
  only: Currency | null = null,
): Promise<void> {
  const known = await watching.walletsOf(context, customerId);
  const states = await Promise.all(known.map((id) => context.load(wallet, id)));
  const currencies = new Set(
    states.flatMap((state) =>
      state !== null && (only ?? state.currency) === state.currency ? [state.currency] : [],
    ),
  );
  if (currencies.size === 0) return;
  const features = await alertingFeatures(context, await watching.features(context));
  for (const currency of currencies) {
    const payer = { customer_id: customerId, currency };
    const look = () => judged(context, payer, { usage, known, features });
    for (let looks = 1; !(await look()); looks += 1) {
      if (looks === looksMaximum) {
        throw new Error(`the wallets of ${customerId} have changed at each of ${looks} looks`);
      }
    }
  }
}

interface Seeing {
  readonly usage: UsageReadings;
  readonly known: readonly string[];
  readonly features: readonly AlertingFeature[];
}

/** Has the wallets of a payer judge one look. False where one of them has changed since, so that it has to be looked again. */
async function judged(
  context: WorkContext,
  payer: Pick<Wallet, 'customer_id' | 'currency'>,
  { usage, known, features }: Seeing,
): Promise<boolean> {
  const { wallets, position } = await ongoingBalances(context, payer, usage, known);
  for (const { wallet: state, borne } of wallets) {
    const seen: SeenBalance = { ...borne, spending: spendingOf(state), position, features };
    const judge = judgeOngoing(state.id, seen);
    // Mostly nothing changes, and then nothing is written.
    if (judge(state, context.now).length === 0) continue;
    const outcome = await context.beside().execute(wallet, state.id, judge);
    if (outcome.events.length === 0 && outcome.state !== null) {
      if (spendingOf(outcome.state) !== seen.spending) return false;
    }
  }
  return true;
}

/** The features that tell when a balance reaches a level, as the log has them. */
async function alertingFeatures(
  context: WorkContext,
  ids: readonly string[],
): Promise<readonly AlertingFeature[]> {
  const records = await Promise.all(ids.map((id) => context.load(feature, id)));
  return records.flatMap((record) =>
    record?.status === 'published' && record.alert_settings?.alert_enabled
      ? [{ feature_id: record.id, alert_settings: record.alert_settings }]
      : [],
  );
}

/** A look when usage or wallets have changed. */
export const balanceLooks = (looking: Looking): FactWork => ({
  name: 'balance of a customer',
  tables: usageTables,
  marks: watchedBalances,
  run: (context, id) => lookAtBalances(context, id as Wallet['customer_id'], looking),
});

/** A look when an invoice is owed more or less than before. */
export function invoicesLookedAt(looking: Looking) {
  const { watching } = looking;
  const look = async (
    { aggregate_id }: { readonly aggregate_id: string },
    context: WorkContext,
  ) => {
    if (!(await watching.isWanted(context))) return;
    const state = await context.load(invoice, aggregate_id);
    if (state === null || state.cause.kind === 'purchase') return;
    const { customer_id, currency } = state;
    const isWatched =
      (await watching.isWatched(context, customer_id)) ||
      (await watching.features(context)).length > 0;
    if (isWatched) await lookAtBalances(context, customer_id, looking, currency);
  };
  return reaction(invoice, {
    name: 'balance after an invoice',
    on: {
      // The first figures of a draft: from then on it stands for the usage of its period.
      InvoiceComputed: async (event, context) =>
        event.revision === 1 ? look(event, context) : undefined,
      InvoiceFinalized: look,
      PaymentSettled: look,
      PaymentReturned: look,
      InvoiceAdjusted: look,
      AdjustmentReversed: look,
      InvoiceVoided: look,
    },
  });
}

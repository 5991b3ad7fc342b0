import {
  type ReactionContext,
  type RequestContext,
  reaction,
  where,
} from '@counterfoil/engine/define';
import {
  type DecimalText,
  derivedId,
  existing,
  type PaymentId,
  zeroText,
} from '@counterfoil/kernel';
import { amountsOf, type Invoice, invoice } from '../../invoices/index.ts';
import { settingOf } from '../../settings/index.ts';
import { activeWallets, type Wallet } from '../../wallets/index.ts';
import { type AskedProvider, isProvided } from '../decisions.ts';
import { attemptUnderWay, type Payment, payment } from '../payment.ts';
import { paymentTable } from '../projection.ts';
import { cancelUnderWay } from '../provided-decisions.ts';
import type { PaymentProvider } from '../provider.ts';
import {
  type CollectionEventData,
  type CollectionState,
  collection,
  type PlannedPayment,
} from './collection.ts';
import {
  beginPlannedRound,
  endPayment,
  nextRound,
  planRound,
  type RetrySchedule,
  stopCollection,
} from './decisions.ts';
import { providedPayment, restOf, walletPayments } from './plan.ts';
import { createPlanned } from './planned-payment.ts';
import { collectable } from './under-way.ts';

/** An invoice that is charged automatically is collected as soon as it is final; of one that is void nothing is. */
export function collectedInvoices(provider: PaymentProvider | null) {
  const stop = (
    { aggregate_id: id }: { readonly aggregate_id: string },
    context: ReactionContext,
  ) => stopWhereNothingIsOwed(context, provider, id);
  return reaction(invoice, {
    name: 'collection of an invoice',
    on: {
      InvoiceFinalized: async ({ aggregate_id: id }, context) => {
        const state = existing(await context.load(invoice, id), 'invoice');
        if (state.collection_method !== 'charge_automatically' || !isOwed(state)) return;
        await context.execute(collection, id, {
          prepare: async () => {
            const round = nextRound(await context.load(collection, id));
            const { plan, schedule } = await planOf(context, provider, state, round);
            return beginPlannedRound('finalization', plan, schedule);
          },
        });
      },
      PaymentSettled: stop,
      InvoiceAdjusted: stop,
      InvoiceVoided: stop,
    },
  });
}

/** Takes what is not owed any more off the schedule, and calls off what a provider has under way for it: an open page could be paid. */
async function stopWhereNothingIsOwed(
  context: ReactionContext,
  provider: PaymentProvider | null,
  id: string,
): Promise<void> {
  const [state, collecting] = await Promise.all([
    context.load(invoice, id),
    context.load(collection, id),
  ]);
  if (isOwed(existing(state, 'invoice'))) return;
  for (const each of provider ? await providedUnderWay(context, id) : []) {
    await context.execute(payment, each.id, cancelUnderWay(`Nothing of invoice ${id} is owed.`));
  }
  if (collecting?.next_at == null) return;
  await context.execute(collection, id, stopCollection);
}

/** Tells whether something of an invoice is owed. */
export const isOwed = (state: Invoice): boolean =>
  state.invoice_status === 'FINALIZED' && amountsOf(state).amount_remaining !== zeroText;

/**
 * A round is planned on what is owed, what wallets have and what a provider has saved, and then its payments are made, in
 * their order.
 */
export const roundsCarriedOut = (provider: PaymentProvider | null) =>
  reaction(collection, {
    name: 'round of a collection',
    on: {
      RoundDue: async ({ aggregate_id: id, data: { round } }, context) => {
        // Of a round that is planned nobody is asked again, however often the log is read.
        if (!isUnplanned(await context.load(collection, id), round)) return;
        const state = existing(await context.load(invoice, id), 'invoice');
        const { plan, schedule } = await planOf(context, provider, state, round);
        await context.execute(collection, id, planRound(plan, schedule));
      },
      RoundPlanned: async ({ aggregate_id: id, data: { round, payments } }, context) => {
        const state = existing(await context.load(invoice, id), 'invoice');
        for (const planned of payments) {
          const create = createPlanned(state, planned, round, askedOf(provider, planned));
          await context.execute(payment, planned.payment_id, create);
        }
      },
    },
  });

/** The payments that a round is going to try, and the days after which it is tried again. */
async function planOf(
  context: ReactionContext,
  provider: PaymentProvider | null,
  state: Invoice,
  round: number,
): Promise<{
  readonly plan: CollectionEventData<'RoundPlanned'>;
  readonly schedule: RetrySchedule;
}> {
  const payments = isOwed(state) ? await paymentsOf(context, provider, state, round) : [];
  const schedule = isOwed(state) ? await scheduleOf(context, state) : [];
  const { customer_id } = state;
  return { plan: { round, customer_id, payments: [...payments] }, schedule };
}

function isUnplanned(state: CollectionState, round: number): boolean {
  if (!state?.isOpen) return false;
  return state.round === round && state.waiting === null;
}

/** Wallets pay first, and the usual method that a provider has saved pays what they leave; of what is under way nobody pays again. */
async function paymentsOf(
  context: ReactionContext,
  provider: PaymentProvider | null,
  state: Invoice,
  round: number,
): Promise<readonly PlannedPayment[]> {
  const owed = await collectable(context, state);
  if (owed === zeroText) return [];
  const wallets = await walletsOf(context, state);
  const payments = walletPayments(state, owed, wallets, round, context.now);
  const account = (await provider?.account(context)) ?? null;
  if (!provider || !account || restOf(owed, payments) === zeroText) return payments;
  const saved = await account.savedMethods(state.customer_id);
  const usual = saved.find((method) => method.is_default);
  if (!usual || !provider.methods.includes(usual.payment_method_type)) return payments;
  return [...payments, providedPayment(state, owed, payments, round, usual)];
}

/** Payments of one invoice that are looked at for what a provider has under way. */
const paymentsRead = 500;

/** The payments of an invoice that a provider has under way, as the log has them. */
async function providedUnderWay(
  context: Pick<RequestContext, 'read' | 'load'>,
  invoiceId: string,
): Promise<readonly Payment[]> {
  const open = [
    ...where('destination_id', 'eq', invoiceId),
    ...where('payment_status', 'in', ['PENDING', 'PROCESSING']),
  ];
  const ids = await context.read.ids(paymentTable, open, paymentsRead);
  const states = await Promise.all(ids.map((id) => context.load(payment, id)));
  return states.flatMap((state) => (state && attemptUnderWay(state) ? [state] : []));
}

const askedOf = (
  provider: PaymentProvider | null,
  { method, payment_id }: PlannedPayment,
): AskedProvider | null =>
  provider && isProvided(method)
    ? { name: provider.name, attemptId: derivedId('attempt', payment_id) }
    : null;

/** Money that the customer's wallets would leave of an invoice, were it collected now. */
export async function restAfterWallets(
  context: Pick<RequestContext, 'read' | 'load' | 'now'>,
  owing: Invoice,
): Promise<DecimalText> {
  const wallets = await walletsOf(context, owing);
  const owed = amountsOf(owing).amount_remaining;
  return restOf(owed, walletPayments(owing, owed, wallets, 1, context.now));
}

/** The customer's wallets that may pay for an invoice, as the log has them. */
const walletsOf = (
  context: Pick<RequestContext, 'read' | 'load'>,
  { customer_id, currency }: Invoice,
): Promise<readonly Wallet[]> =>
  activeWallets(context, { customer_id, currency, wallet_type: 'POST_PAID' });

/** The days after which what is owed is tried again; none for an invoice that is not charged automatically. */
async function scheduleOf(
  context: Pick<ReactionContext, 'load'>,
  { collection_method }: Invoice,
): Promise<RetrySchedule> {
  if (collection_method !== 'charge_automatically') return [];
  const { payment_retry_days } = await settingOf(context, 'subscription_config');
  return payment_retry_days;
}

/** The round of a payment hears of its end, once the invoice has taken the money. */
export const endsOfPayments = reaction(payment, {
  name: 'end of a collected payment',
  on: {
    PaymentApplied: (event, context) => tellRound(event.aggregate_id, true, context),
    PaymentFailed: (event, context) => tellRound(event.aggregate_id, false, context),
  },
});

async function tellRound(id: string, is_paid: boolean, context: ReactionContext): Promise<void> {
  const state: Payment = existing(await context.load(payment, id), 'payment');
  if (state.collection_round === null) return;
  const owing = existing(await context.load(invoice, state.destination_id), 'invoice');
  const schedule = await scheduleOf(context, owing);
  const end = endPayment({ payment_id: id as PaymentId, is_paid }, isOwed(owing), schedule);
  await context.execute(collection, state.destination_id, end);
}

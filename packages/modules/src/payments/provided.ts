import type { ReactionContext, ReactionEvent } from '@counterfoil/engine/define';
import { type DecimalText, decimal, existing, type RefundId } from '@counterfoil/kernel';
import { invoice, paymentIn, returnPayment } from '../invoices/index.ts';
import { failPayment, succeedPayment } from './decisions.ts';
import type { PaymentEvent } from './events.ts';
import {
  attemptUnderWay,
  type Payment,
  type PaymentAttempt,
  type PaymentRefund,
  payment,
  refundUnderWay,
} from './payment.ts';
import {
  comeBack,
  commitRefund,
  failRefund,
  nameAttempt,
  refundOf,
  succeedRefund,
} from './provided-decisions.ts';
import {
  type PaymentProvider,
  type ProviderAccount,
  type ProviderAttempt,
  type ProviderContext,
  ProviderUnavailable,
} from './provider.ts';

type Handled<Type extends PaymentEvent['type']> = ReactionEvent<
  Extract<PaymentEvent, { readonly type: Type }>
>;

/**
 * The parts of a payment that a provider is asked about, each by the event that makes it due. All are safe to repeat. Where a
 * provider does not answer, the next question is due work: the customer's other payments do not wait for it.
 */
export function askedOfProvider(provider: PaymentProvider | null) {
  const ask = (id: string, context: ReactionContext) =>
    askAboutPayment(context, id, provider).catch(unlessUnavailable);
  return {
    PaymentAttemptStarted: async (
      { aggregate_id: id }: Handled<'PaymentAttemptStarted'>,
      context: ReactionContext,
    ) => {
      const state = existing(await context.load(payment, id), 'payment');
      // One that has a name by now is settled because of that.
      if (attemptUnderWay(state)?.reference === null) await ask(id, context);
    },
    PaymentAttemptPrepared: (
      { aggregate_id: id }: Handled<'PaymentAttemptPrepared'>,
      context: ReactionContext,
    ) => ask(id, context),
    PaymentCancelled: (
      { aggregate_id: id }: Handled<'PaymentCancelled'>,
      context: ReactionContext,
    ) => ask(id, context),
    ProviderAsked: ({ aggregate_id: id }: Handled<'ProviderAsked'>, context: ReactionContext) =>
      ask(id, context),
    RefundStarted: async (event: Handled<'RefundStarted'>, context: ReactionContext) => {
      const state = existing(await context.load(payment, event.aggregate_id), 'payment');
      await reserveRefund(context, state, refundOf(state, event.data.refund_id));
    },
    RefundCommitted: ({ aggregate_id: id }: Handled<'RefundCommitted'>, context: ReactionContext) =>
      ask(id, context),
    RefundFailed: async (
      { aggregate_id, data: { refund_id, payment_id } }: Handled<'RefundFailed'>,
      context: ReactionContext,
    ) => {
      if (payment_id === null) return;
      const state = await context.load(payment, aggregate_id);
      await context.execute(payment, payment_id, comeBack(state, refundOf(state, refund_id)));
    },
  };
}

const unlessUnavailable = (error: unknown): void => {
  if (!(error instanceof ProviderUnavailable)) throw error;
};

/**
 * Asks the provider about all that it has under way of a payment, and records what it says: of an attempt first its name, and
 * then, by the event of that, its end. Nothing is under way, nothing happens. Throws `ProviderUnavailable` where the outcome cannot be known now.
 */
export async function askAboutPayment(
  context: ProviderContext,
  id: string,
  provider: PaymentProvider | null,
): Promise<void> {
  const state = await context.load(payment, id);
  if (!state) return;
  const attempt = attemptUnderWay(state);
  if (attempt) return askAboutAttempt(context, state, attempt, provider);
  const refund = refundUnderWay(state);
  if (refund?.refund_status !== 'PROCESSING') return;
  const account = await accountAt(context, provider, refund.provider);
  await askAboutRefund(context, state, refund, account);
}

/** The account at the provider that something was begun with. Unavailable where this installation or environment has none any more. */
async function accountAt(
  context: ProviderContext,
  provider: PaymentProvider | null,
  name: string,
): Promise<ProviderAccount> {
  const account = provider?.name === name ? await provider.account(context) : null;
  if (account) return account;
  throw new ProviderUnavailable(`This environment has no account at ${name}.`);
}

async function askAboutAttempt(
  context: ProviderContext,
  state: Payment,
  attempt: PaymentAttempt,
  provider: PaymentProvider | null,
): Promise<void> {
  const { number, reference, cancelled } = attempt;
  if (reference === null && cancelled !== null) {
    // What has no name in the log is confirmed by nobody, and its page is known to nobody.
    await context.execute(payment, state.id, failPayment(cancelled));
    return;
  }
  const account = await accountAt(context, provider, attempt.provider);
  const asked = askedFor(state, attempt);
  if (reference === null) {
    const answer = await account.prepare(asked);
    const step =
      answer.kind === 'prepared'
        ? nameAttempt({ number, reference: answer.reference, url: answer.url })
        : failPayment(answer.message);
    await context.execute(payment, state.id, step);
    return;
  }
  const named = { ...asked, reference };
  const answer = await (cancelled === null ? account.settle(named) : account.cancel(named));
  if (answer.kind === 'waiting') return;
  const end =
    answer.kind === 'succeeded'
      ? succeedPayment({ gateway_payment_id: answer.gateway_payment_id })
      : failPayment(cancelled ?? answer.message);
  await context.execute(payment, state.id, end);
}

const askedFor = (state: Payment, { provider_key: key }: PaymentAttempt): ProviderAttempt => ({
  payment_id: state.id,
  key,
  customer_id: state.customer_id,
  description: state.invoice_number ?? state.id,
  method: state.payment_method_type,
  method_id: state.payment_method_id,
  amount: state.amount,
  currency: state.currency,
  options: state.gateway_options,
  success_url: state.success_url,
  cancel_url: state.cancel_url,
  save_card_and_make_default: state.save_card_and_make_default,
});

/**
 * Has the invoice owe again what a refund is to give back, before anything is sent: a credit note, a void and a refund that
 * meet give the money back once. What it does not have any more ends the refund.
 */
async function reserveRefund(
  context: ReactionContext,
  state: Payment,
  refund: PaymentRefund,
): Promise<void> {
  const { refund_id, returned, refund_status } = refund;
  if (refund_status !== 'REQUESTED') return;
  const back = returnPayment({ payment_id: state.id, returned, isPartAllowed: false });
  const outcome = await context.execute(invoice, state.destination_id, back);
  const held = paymentIn(existing(outcome.state, 'invoice'), state.id);
  const isThere = held !== undefined && isAtLeast(held.returned, returned);
  const step = isThere
    ? commitRefund(refund_id)
    : failRefund(refund_id, 'The invoice does not have this money of the payment any more.');
  await context.execute(payment, state.id, step);
}

const isAtLeast = (one: DecimalText, other: DecimalText): boolean =>
  decimal(one).cmp(decimal(other)) >= 0;

async function askAboutRefund(
  context: ProviderContext,
  { id, currency }: Payment,
  refund: PaymentRefund,
  account: ProviderAccount,
): Promise<void> {
  const { refund_id, provider_key: key, started_at, gateway_payment_id, amount } = refund;
  const asked = { payment_id: id, refund_id, key, started_at };
  const answer = await account.refund({ ...asked, gateway_payment_id, amount, currency });
  if (answer.kind === 'waiting') return;
  await context.execute(payment, id, endOf(refund_id, answer));
}

const endOf = (
  id: RefundId,
  answer: Exclude<Awaited<ReturnType<ProviderAccount['refund']>>, { readonly kind: 'waiting' }>,
) =>
  answer.kind === 'succeeded'
    ? succeedRefund(id, answer.gateway_refund_id)
    : failRefund(id, answer.message);

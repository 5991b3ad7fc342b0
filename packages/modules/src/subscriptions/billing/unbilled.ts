import { type AskingContext, where } from '@counterfoil/engine/define';
import {
  type Currency,
  type DecimalText,
  decimal,
  invalidOperation,
  type Period,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import { isInherited, payerOf, usersOf } from '../families/family.ts';
import { subscriptionTable } from '../projection.ts';
import { type Subscription, subscription } from '../subscription.ts';
import { runningBill } from '../usage/bills.ts';
import { allowancesOf } from '../usage/charges.ts';
import { ratedCommitment, usedCommitment } from '../usage/held.ts';
import { type Charging, ratedUsage } from '../usage/rated-line.ts';
import type { RatingMoment } from './rated.ts';

/** Subscriptions that one payer has at most, where what they have used is asked for. */
const subscriptionsMaximum = 1_000;

/** A subscription whose period runs, with that. */
export type RunningSubscription = Subscription & { readonly opened: Period };

/**
 * The subscriptions of a currency whose next invoice a customer pays, and whose period runs: its own, those that it pays for others, and those
 * that are invoiced with one of them. What is inherited is charged under the subscription of the parent (E 10.9). Throws 400 for
 * more than can be looked at.
 */
export async function subscriptionsPaidBy(
  context: Pick<AskingContext, 'load' | 'read'>,
  customerId: string,
  currency: Currency,
): Promise<readonly RunningSubscription[]> {
  // Those of others that it pays for are among them, and such as are invoiced with one of somebody else.
  const found = await context.read.ids(
    subscriptionTable,
    [
      ...where('invoicing_customer_id', 'eq', customerId),
      ...where('subscription_status', 'not_in', ['draft', 'cancelled']),
    ],
    subscriptionsMaximum + 1,
  );
  const ids = new Set<string>(found);
  const states = new Map<string, Subscription>();
  for (const id of ids) {
    if (ids.size > subscriptionsMaximum) throw tooMany(customerId);
    const state = await context.load(subscription, id);
    if (state === null || !(await isPaidBy(context, state, customerId))) continue;
    states.set(state.id, state);
    for (const member of state.family.members) ids.add(member);
  }
  return [...states.values()].filter(
    (state): state is RunningSubscription =>
      state.opened !== null && state.currency === currency && !isInherited(state),
  );
}

const tooMany = (customerId: string) =>
  invalidOperation(
    `Customer ${customerId} pays for more than ${subscriptionsMaximum} subscriptions: what they have used is not added up at once.`,
    { reason: 'limit_reached', limit: subscriptionsMaximum },
  );

/** Tells whether a customer pays the invoices of the periods of a subscription. */
async function isPaidBy(
  context: Pick<AskingContext, 'load'>,
  state: Subscription,
  customerId: string,
): Promise<boolean> {
  const { parent } = state.family;
  if (parent?.relation !== 'grouped_invoicing') return payerOf(state) === customerId;
  const host = await context.load(subscription, parent.subscription_id);
  return host !== null && payerOf(host) === customerId;
}

/**
 * The money that the usage of a subscription's running period comes to by now, as the settlement that closes it would bill it: net of
 * what entitlements make free, by what is within and above commitments. The rest of a commitment is charged when the period is closed,
 * and is no usage. Before discounts and taxes (E 18.8).
 */
export async function unbilledUsage(
  context: AskingContext,
  state: RunningSubscription,
  moment: RatingMoment,
): Promise<DecimalText> {
  const bill = runningBill(state);
  if (bill === null || bill.usage.length === 0) return zeroText;
  const { held } = bill;
  const charging: Charging = {
    ...moment,
    state,
    users: usersOf(state),
    allowances: await allowancesOf(context, state),
  };
  const lines = [];
  // One after the other: a customer has few lines, and each is answered from sums that are kept.
  for (const { line, span } of bill.usage) {
    const commitment = await usedCommitment(context, charging, line, span, held);
    const { gross, net } = await ratedUsage(context, charging, line, span, commitment);
    lines.push({ line_id: line.id, gross: gross.amount, net: net.amount });
  }
  const committed = await ratedCommitment(context, charging, state.opened, lines, held);
  const amounts = committed
    ? committed.net.lines.flatMap(({ utilized, overage }) => [utilized, overage])
    : lines.map(({ net }) => net);
  return textOf(amounts.reduce((sum, amount) => sum.plus(decimal(amount)), zero));
}

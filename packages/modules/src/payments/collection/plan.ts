import {
  type DecimalText,
  decimal,
  derivedId,
  type Instant,
  minorUnits,
  type PaymentId,
  smaller,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import { type Invoice, payableBy } from '../../invoices/index.ts';
import { inWalletOrder, spendableMoney, type Wallet } from '../../wallets/index.ts';
import type { SavedMethod } from '../provider.ts';
import type { PlannedPayment } from './collection.ts';

/** POST_PAID wallets that pay for one invoice at most (E 16). */
const walletsMaximum = 5;

/** The groups in which wallets are asked: those that may pay for the least come first. */
const groups = ['USAGE', 'FIXED', 'ALL'] as const;
type Group = (typeof groups)[number];

/** The id of a payment of a round, which follows from invoice, round and place. */
export const plannedId = (invoiceId: string, round: number, place: number): PaymentId =>
  derivedId('pay', `${invoiceId}\n${round}\n${place}`);

/** Tells whether a payment is of the first round of an invoice: the one that finalisation has begun. */
export const isOfFirstRound = (invoiceId: string, paymentId: string): boolean =>
  // Wallets, and then what a provider has saved.
  Array.from({ length: walletsMaximum + 1 }, (_, place) => plannedId(invoiceId, 1, place)).some(
    (id) => id === paymentId,
  );

/**
 * The payments that collect what an invoice is owed from POST_PAID wallets (E 16): those that may pay for usage alone, then
 * those for fixed charges alone, then the others, each in the order of the customer's wallets (D21). A wallet pays with the
 * credits that it has, and what it owes is not more for it.
 *
 * @param owed the part of the invoice that is to be collected
 */
export function walletPayments(
  invoice: Invoice,
  owed: DecimalText,
  wallets: readonly Wallet[],
  round: number,
  at: Instant,
): readonly PlannedPayment[] {
  const parts = partsOf(invoice);
  const left: Record<Group, DecimalText> = { ...parts, ALL: owed };
  const payments: PlannedPayment[] = [];
  for (const [group, wallet] of asked(wallets)) {
    if (payments.length === walletsMaximum) break;
    const most = smaller(decimal(left[group]), decimal(left.ALL));
    const amount = smaller(most, inWholeUnits(wallet, at));
    if (amount.cmp(zero) <= 0) continue;
    const paid = textOf(amount);
    left.ALL = minus(left.ALL, paid);
    if (group !== 'ALL') left[group] = minus(left[group], paid);
    payments.push({
      payment_id: plannedId(invoice.id, round, payments.length),
      method: 'CREDITS',
      wallet_id: wallet.id,
      payment_method_id: null,
      amount: paid,
    });
  }
  return payments;
}

/** The part of what is owed that payments leave. */
export const restOf = (
  owed: DecimalText,
  payments: readonly Pick<PlannedPayment, 'amount'>[],
): DecimalText => payments.reduce((left, { amount }) => minus(left, amount), owed);

/** The payment of all that other planned payments leave, by a method that a provider has saved. */
export const providedPayment = (
  { id: invoiceId }: Pick<Invoice, 'id'>,
  owed: DecimalText,
  payments: readonly PlannedPayment[],
  round: number,
  { id, payment_method_type }: SavedMethod,
): PlannedPayment => ({
  payment_id: plannedId(invoiceId, round, payments.length),
  method: payment_method_type,
  wallet_id: null,
  payment_method_id: id,
  amount: restOf(owed, payments),
});

/** The money of an invoice by the type of its charges, with tax and without what prepaid credits have paid. */
const partsOf = ({ lines }: Invoice): Readonly<Record<'USAGE' | 'FIXED', DecimalText>> => ({
  USAGE: payableBy(lines, { price_types: ['USAGE'], covers_tax: true }),
  FIXED: payableBy(lines, { price_types: ['FIXED'], covers_tax: true }),
});

/** The wallets in the order in which they are asked, each with the charges that it may pay for. */
const asked = (wallets: readonly Wallet[]): readonly (readonly [Group, Wallet])[] =>
  groups.flatMap((group) =>
    wallets
      .filter((wallet) => wallet.wallet_type === 'POST_PAID' && groupOf(wallet) === group)
      .toSorted(inWalletOrder)
      .map((wallet) => [group, wallet] as const),
  );

function groupOf({ config: { allowed_price_types: types } }: Wallet): Group {
  if (types.includes('ALL') || (types.includes('USAGE') && types.includes('FIXED'))) return 'ALL';
  return types.includes('USAGE') ? 'USAGE' : 'FIXED';
}

/** The money that a wallet can pay, cut to what its currency can. */
const inWholeUnits = (wallet: Wallet, at: Instant) =>
  decimal(spendableMoney(wallet, at)).round(minorUnits(wallet.currency), 0);

const minus = (one: DecimalText, other: DecimalText): DecimalText => {
  const left = decimal(one).minus(decimal(other));
  return left.cmp(zero) > 0 ? textOf(left) : zeroText;
};

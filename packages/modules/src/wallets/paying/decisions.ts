import {
  type DecimalText,
  decimal,
  type Instant,
  type TransactionId,
  textOf,
  zero,
} from '@counterfoil/kernel';
import { creditsPaying } from '../customer-debits/shares.ts';
import { fundsOf, type WalletDecision } from '../decisions.ts';
import type { WalletEvent } from '../events.ts';
import { chain, type Step } from '../ledger/chain.ts';
import { dueEvents, settledWallet } from '../ledger/due.ts';
import { debitEvent, type EntryDetails } from '../ledger/entries.ts';
import { concluded } from '../topups/automatic.ts';
import type { Wallet, WalletState } from '../wallet.ts';

/**
 * Pays an amount of money with credits, all of it or nothing. No debit where the wallet cannot: it is not active, or has
 * less than that. Credits that are not there pay no invoice, also in a wallet that may owe.
 */
export const payWithCredits =
  (id: string, amount: DecimalText, details: EntryDetails): WalletDecision =>
  (state, at) => {
    if (state?.wallet_status !== 'active' || state.id !== id) return [];
    const due: Step = (current) => dueEvents(current, at);
    const pay: Step = (current) => {
      const credits = creditsPaying(amount, current.conversion_rate);
      const isEnough = decimal(credits).cmp(decimal(fundsOf(current))) <= 0;
      return isEnough ? [debitEvent(current, { ...details, credits }, at)] : [];
    };
    const events = chain(state, [due, pay]);
    const isPaid = events.some(({ type }) => type === 'CreditsDebited');
    return chain(state, [due, pay, ...concluded(at, isPaid ? null : 'refused_debit')]);
  };

/** The entry by which a wallet has paid. */
export interface CreditsPaid {
  readonly transaction_id: TransactionId;
  readonly credits: DecimalText;
}

/** The payment among the events of `payWithCredits`; null where the wallet could not pay. */
export function paidIn(events: readonly WalletEvent[]): CreditsPaid | null {
  const debit = events.find((event) => event.type === 'CreditsDebited');
  if (debit?.type !== 'CreditsDebited') return null;
  const { transaction_id, credits } = debit.data;
  return { transaction_id, credits };
}

/** The reason for which a wallet could not pay, for people. */
export function whyUnpaid(state: WalletState): string {
  if (!state) return 'There is no such wallet.';
  if (state.wallet_status !== 'active') return `The wallet is ${state.wallet_status}.`;
  return `The wallet has ${fundsOf(state)} credits available.`;
}

/** The money that a wallet can pay now: its credits in lots at its rate. Nothing where it is not active. */
export function spendableMoney(wallet: Wallet, at: Instant): DecimalText {
  if (wallet.wallet_status !== 'active') return textOf(zero);
  const settled = settledWallet(wallet, at);
  return textOf(decimal(fundsOf(settled)).times(decimal(settled.conversion_rate)));
}

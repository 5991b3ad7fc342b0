import type { ReactionContext } from '@counterfoil/engine/define';
import {
  type Decimal,
  type DecimalText,
  decimal,
  derivedId,
  divide,
  smaller,
  type TransactionId,
  textOf,
  zero,
} from '@counterfoil/kernel';
import { type Children, childOf } from '../child.ts';
import type { WalletDecision } from '../decisions.ts';
import { chain } from '../ledger/chain.ts';
import { dueEvents } from '../ledger/due.ts';
import { type EntryDetails, takeBackEvent } from '../ledger/entries.ts';
import { entryAfter } from '../ledger/transaction.ts';
import { transactionTable } from '../projection.ts';
import { giveBack } from '../reversals/give-back.ts';
import type { TransactionResource } from '../schema.ts';
import { wallet } from '../wallet.ts';
import { concluded } from './automatic.ts';
import { bonusIdOf } from './bonus.ts';

const entries: Children<TransactionResource> = { table: transactionTable, after: entryAfter };

/** A purchase of which money went back. */
export interface ReturnedPurchase {
  readonly walletId: string;
  /** The entry of the credits that were bought. */
  readonly transactionId: string;
  /** Names what was returned: the entry that takes the bonus back follows from it. */
  readonly occasion: string;
}

/** The part of the price that is with the payer by now, and that which was before. */
interface Share {
  readonly before: DecimalText;
  readonly after: DecimalText;
  readonly whole: DecimalText;
}

/**
 * Takes of the bonus of a purchase what the part of the price brought that went back, as far as it is unspent: out of its own lot, so that nothing else is
 * touched and nothing falls below zero. A frozen wallet gives it as well, a closed one has none.
 */
export async function takeBonusBack(
  context: ReactionContext,
  { walletId, transactionId, occasion }: ReturnedPurchase,
  share: Share,
  details: EntryDetails,
): Promise<void> {
  const bonus = await childOf(context, entries, walletId, bonusIdOf(transactionId));
  if (bonus === null) return;
  const asked = bonusShare(bonus.credit_amount as DecimalText, share);
  if (asked.cmp(zero) <= 0) return;
  const own = ofBonus(details, transactionId);
  await context.execute(wallet, walletId, takeFromBonus(transactionId, asked, own, occasion));
}

/** Gives back what was taken of the bonus of a purchase on some occasions: it is paid again. */
export async function giveBonusBack(
  context: ReactionContext,
  { walletId, transactionId, occasions }: Omit<ReturnedPurchase, 'occasion'> & Occasions,
  details: EntryDetails,
): Promise<void> {
  const own = ofBonus(details, transactionId);
  for (const occasion of occasions) {
    const taken = takingId(transactionId, occasion);
    const entry = await childOf(context, entries, walletId, taken);
    if (entry === null) continue;
    const credits = entry.credit_amount as DecimalText;
    await giveBack(context, { ...own, walletId, transactionId: taken, credits });
  }
}

interface Occasions {
  readonly occasions: readonly string[];
}

/** The details of an entry that names the purchase of which the bonus is. */
const ofBonus = (details: EntryDetails, purchaseId: string): EntryDetails => ({
  ...details,
  metadata: { ...details.metadata, bonus_of: purchaseId },
});

const creditPlaces = 9;

/** The credits of a bonus that stand for a part of the price, so that all parts together are all of it. */
function bonusShare(bonus: DecimalText, { before, after, whole }: Share): Decimal {
  const upTo = (money: Decimal): Decimal =>
    money.cmp(decimal(whole)) >= 0
      ? decimal(bonus)
      : divide(decimal(bonus).times(money), decimal(whole), creditPlaces);
  return upTo(decimal(after)).minus(upTo(decimal(before)));
}

const takingId = (purchaseId: string, occasion: string): TransactionId =>
  derivedId('wtxn', `bonus taken back ${purchaseId}\n${occasion}`);

const takeFromBonus =
  (purchaseId: string, asked: Decimal, details: EntryDetails, occasion: string): WalletDecision =>
  (state, at) => {
    if (!state || state.wallet_status === 'closed') return [];
    return chain(state, [
      (current) => dueEvents(current, at),
      (current) => {
        const bonusId = bonusIdOf(purchaseId);
        const lot = current.lots.find(({ transaction_id }) => transaction_id === bonusId);
        if (!lot) return [];
        const credits = textOf(smaller(asked, decimal(lot.remaining)));
        const transactionId = takingId(purchaseId, occasion);
        return [takeBackEvent(current, lot, { ...details, credits, transactionId }, at)];
      },
      ...concluded(at),
    ]);
  };

import type { ReactionContext, RequestContext } from '@counterfoil/engine/define';
import { type DecimalText, decimal, notFound, smaller, textOf, zero } from '@counterfoil/kernel';
import { type Children, childOf, childrenOf } from '../child.ts';
import type { WalletDecision } from '../decisions.ts';
import type { EntryDetails } from '../ledger/entries.ts';
import { entryAfter } from '../ledger/transaction.ts';
import { transactionTable } from '../projection.ts';
import type { TransactionResource } from '../schema.ts';
import { wallet } from '../wallet.ts';
import { reverseEntry } from './decisions.ts';
import { type ReversibleEntry, reversedBy, reversibleEntry } from './reversals.ts';

const entries: Children<TransactionResource> = { table: transactionTable, after: entryAfter };

/** Looks an entry up that is to be reversed, with the lots that it drew from. Throws 404 and 400. */
export async function entryOf(
  context: Pick<RequestContext, 'load' | 'read' | 'history'>,
  walletId: string,
  transactionId: string,
): Promise<ReversibleEntry> {
  const state = await context.load(wallet, walletId);
  if (!state) throw notFound('wallet', walletId);
  const entry = await childOf(context, entries, walletId, transactionId);
  if (entry?.wallet_id !== walletId) {
    throw notFound('transaction', transactionId, 'transaction_id');
  }
  const drawn = (entry.drawn_from ?? []).map(({ transaction_id }) => transaction_id);
  const loads = await childrenOf(context, entries, walletId, drawn);
  return reversibleEntry(entry, loads, state.reversals.count);
}

/** Credits that go back to the lots that paid with them. */
export interface CreditsBack extends EntryDetails {
  readonly walletId: string;
  /** The entry that took them. */
  readonly transactionId: string;
  readonly credits: DecimalText;
}

/**
 * Gives credits of an entry back to the lots that it drew from (D42), at most what is left of it, once for a reaction's
 * event. Returns the credits that came back; null where the wallet is closed and takes none.
 */
export async function giveBack(
  context: ReactionContext,
  { walletId, transactionId, credits, ...details }: CreditsBack,
): Promise<DecimalText | null> {
  const { state, events } = await context.execute(wallet, walletId, {
    prepare: async () =>
      reverseUpTo(walletId, await entryOf(context, walletId, transactionId), credits, details),
  });
  if (state?.wallet_status === 'closed') return null;
  const reversal = events.find((event) => event.type === 'DebitReversed');
  return reversal?.type === 'DebitReversed' ? reversal.data.credits : textOf(zero);
}

/** Reverses an entry up to a number of credits. No event for one of which nothing is left, and for a closed wallet. */
const reverseUpTo =
  (
    id: string,
    reversible: ReversibleEntry,
    credits: DecimalText,
    details: EntryDetails,
  ): WalletDecision =>
  (state, at) => {
    if (!state || state.wallet_status === 'closed') return [];
    const before = reversedBy(state.reversals, reversible);
    const left = decimal(reversible.credits).minus(decimal(before));
    const wanted = smaller(decimal(credits), left);
    if (wanted.cmp(zero) <= 0) return [];
    return reverseEntry(id, reversible, { ...details, credits: textOf(wanted), expiresAt: null })(
      state,
      at,
    );
  };

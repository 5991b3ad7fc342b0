import {
  type DecimalText,
  decimal,
  type Instant,
  invalidOperation,
  invariant,
  Problem,
  type TransactionId,
  zeroText,
} from '@counterfoil/kernel';
import type { WalletEvent } from '../events.ts';
import { type Lot, lotClassOf } from '../ledger/lots.ts';
import type { TransactionResource } from '../schema.ts';

/** The reversals of a wallet so far (D74). */
export interface Reversals {
  readonly count: number;
  /** The last ones, the latest last. */
  readonly last: readonly Reversal[];
}

interface Reversal {
  readonly transaction_id: TransactionId;
  /** Credits of the entry that are reversed by then. */
  readonly reversed: DecimalText;
}

export const noReversals: Reversals = { count: 0, last: [] };

/** The reversals that a wallet remembers: enough for those that come between a look-up and its decision. */
const lastMaximum = 100;

/** The reversals of a wallet after one more. */
export const withReversal = ({ count, last }: Reversals, reversal: Reversal): Reversals => ({
  count: count + 1,
  last: [...last, reversal].slice(-lastMaximum),
});

/**
 * An entry that took credits, as the read models and the log had it when it was looked up. Its wallet does not
 * remember it: the state of a wallet holds what is open, and not what has been.
 */
export interface ReversibleEntry {
  readonly transactionId: TransactionId;
  readonly credits: DecimalText;
  /** The lots that it drew from, in order; `remaining` is the part that it took of each. */
  readonly parts: readonly Lot[];
  readonly reversed: DecimalText;
  /** The number of reversals of its wallet before it was looked up. */
  readonly reversals: number;
}

/**
 * Credits of an entry that are reversed by now, given that of its look-up: they only grow, and the wallet
 * remembers those that have come since. Throws 503 when there were more of them: a repetition looks again.
 */
export function reversedBy(
  { count, last }: Reversals,
  { transactionId, reversed, reversals }: ReversibleEntry,
): DecimalText {
  if (count - reversals > last.length) {
    throw new Problem(
      'service_unavailable',
      'The wallet had too many reversals while this one was decided. Retry shortly.',
      { retryAfterSeconds: 1 },
    );
  }
  const latest = last.findLast(({ transaction_id }) => transaction_id === transactionId);
  if (!latest) return reversed;
  return decimal(latest.reversed).cmp(decimal(reversed)) > 0 ? latest.reversed : reversed;
}

/** The lot of a reversal itself: credits that had been taken beyond all lots. */
export const ownLot = ({
  transaction_id,
  credits_available: remaining,
  effective_at,
  sequence,
}: Extract<WalletEvent, { type: 'DebitReversed' }>['data']): Lot => ({
  transaction_id,
  remaining,
  class: 'purchased',
  priority: null,
  effective_at,
  expires_at: null,
  sequence,
});

/**
 * An entry as its reversal needs it, from its row and the rows of the loads that it drew from. Throws 400 for
 * one that took no credits, and for an expiry: neither is reversed (D74).
 */
export function reversibleEntry(
  entry: TransactionResource,
  loads: ReadonlyMap<string, TransactionResource>,
  reversals: number,
): ReversibleEntry {
  const { id, drawn_from = [], transaction_reason: reason } = entry;
  if (entry.type !== 'debit' || reason === 'CREDIT_EXPIRED') {
    throw invalidOperation(
      `Transaction ${id} cannot be reversed. Take a load back by a debit; an expiry is not taken back.`,
      { reason: 'not_reversible', transaction_reason: reason },
    );
  }
  return {
    transactionId: id as TransactionId,
    credits: entry.credit_amount as DecimalText,
    parts: drawn_from.map(({ transaction_id, credits }) => {
      const load = loads.get(transaction_id);
      invariant(load, `${id} drew from ${transaction_id}, which is nowhere`);
      return { ...lotOfLoad(load), remaining: credits as DecimalText };
    }),
    reversed: (entry.credits_reversed ?? zeroText) as DecimalText,
    reversals,
  };
}

/** The lot that a row of a load, or of a reversal that left one, shows. */
function lotOfLoad(load: TransactionResource): Omit<Lot, 'remaining'> {
  invariant(load.sequence !== undefined, `${load.id} was drawn from before it was loaded`);
  return {
    transaction_id: load.id as TransactionId,
    class: load.reverses === undefined ? lotClassOf(load.transaction_reason) : 'purchased',
    priority: load.priority ?? null,
    effective_at: load.effective_at,
    expires_at: (load.expiry_date ?? null) as Instant | null,
    sequence: load.sequence,
  };
}

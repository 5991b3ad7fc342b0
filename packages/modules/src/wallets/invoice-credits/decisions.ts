import {
  type DecimalText,
  decimal,
  derivedId,
  type HoldId,
  type InvoiceId,
  minorUnits,
  smaller,
  type TransactionId,
  textOf,
  type WalletId,
  zero,
} from '@counterfoil/kernel';
import { creditsPaying } from '../customer-debits/shares.ts';
import { fundsOf, type WalletDecision } from '../decisions.ts';
import type { WalletEvent } from '../events.ts';
import type { Hold } from '../holds/holds.ts';
import { chain } from '../ledger/chain.ts';
import { dueEvents } from '../ledger/due.ts';
import { captureEvent, captureId, type EntryDetails, releaseEvent } from '../ledger/entries.ts';
import { drawFrom } from '../ledger/lots.ts';
import { concluded, taking } from '../topups/automatic.ts';
import type { Wallet, WalletState } from '../wallet.ts';

/** Open holds of a wallet at most, as for those of callers: an invoice that would make one more is paid without it. */
const holdsMaximum = 1_000;

/** An invoice that prepaid credits may pay. */
export interface InvoiceCredits {
  readonly invoice_id: InvoiceId;
  /** Money that credits of some price types may pay of it, besides what other wallets hold for it. */
  readonly payable: (priceTypes: Wallet['config']['allowed_price_types']) => DecimalText;
}

/** The hold of an invoice in a wallet: its id follows from both, so that there is one. */
const holdIdOf = (invoiceId: InvoiceId, walletId: WalletId): HoldId =>
  derivedId('hold', `${invoiceId}\n${walletId}`);

/**
 * Sets credits aside for an invoice that is being made final: as many as it may pay with, or all there are (ADR 44). They
 * do not expire by themselves. No event where nothing is there for it: a wallet that is not active, or a POST_PAID one,
 * which pays when the invoice is collected.
 */
export const holdForInvoice =
  (walletId: WalletId, invoice: InvoiceCredits): WalletDecision =>
  (state, at) => {
    if (state?.wallet_status !== 'active' || state.wallet_type !== 'PRE_PAID') return [];
    return taking(state, at, [(current) => holdEvents(current, walletId, invoice)]);
  };

function holdEvents(
  wallet: Wallet,
  walletId: WalletId,
  { invoice_id, payable }: InvoiceCredits,
): readonly WalletEvent[] {
  const hold_id = holdIdOf(invoice_id, walletId);
  const isFull = wallet.holds.length >= holdsMaximum;
  if (isFull || wallet.holds.some(({ id }) => id === hold_id)) return [];
  const amount = smaller(decimal(payable(wallet.config.allowed_price_types)), worthOf(wallet));
  if (amount.cmp(zero) <= 0) return [];
  const credits = creditsPaying(textOf(amount), wallet.conversion_rate);
  return [
    {
      type: 'CreditsHeld',
      data: {
        hold_id,
        invoice_id,
        invoice_amount: textOf(amount),
        customer_id: wallet.customer_id,
        credits,
        expires_at: null,
        description: null,
        metadata: {},
        drawn: [...drawFrom(wallet.lots, credits)],
      },
    },
  ];
}

/** Money that the credits of a wallet can pay: what is worth less than the smallest unit stays. */
function worthOf(wallet: Wallet) {
  const exact = decimal(fundsOf(wallet)).times(decimal(wallet.conversion_rate));
  return exact.round(minorUnits(wallet.currency), 0);
}

/** The credits that an outcome has set aside for an invoice, with their worth; null for none. */
export function heldForInvoice(events: readonly WalletEvent[]): {
  readonly hold_id: HoldId;
  readonly credits: DecimalText;
  readonly amount: DecimalText;
} | null {
  for (const event of events) {
    if (event.type !== 'CreditsHeld' || event.data.invoice_amount === undefined) continue;
    const { hold_id, credits, invoice_amount: amount } = event.data;
    return { hold_id, credits, amount };
  }
  return null;
}

/** The entry by which an invoice took what it held: there is one of each hold. */
export const entryOfInvoice = (holdId: HoldId): TransactionId => captureId(holdId, null, 1);

/** Debits what is held for an invoice that is final, also in a wallet that was frozen meanwhile. Nothing once that is done. */
export const captureForInvoice =
  (walletId: WalletId, invoiceId: InvoiceId): WalletDecision =>
  (state, at) => {
    const hold = ownHold(state, walletId, invoiceId);
    if (!state || !hold) return [];
    return chain(state, [
      (current) => dueEvents(current, at),
      (current) => [
        captureEvent(current, hold, { ...detailsOf(invoiceId), credits: hold.credits }, true, at),
      ],
      ...concluded(at),
    ]);
  };

/** Gives back what is held for an invoice that is never made final. Nothing where nothing is held for it. */
export const giveUpForInvoice =
  (walletId: WalletId, invoiceId: InvoiceId): WalletDecision =>
  (state, at) => {
    const hold = ownHold(state, walletId, invoiceId);
    if (!state || !hold) return [];
    return chain(state, [
      (current) => dueEvents(current, at),
      (current) => [releaseEvent(current, hold, 'voided', at)],
      // The returned credits may have expired while they were held.
      (current) => dueEvents(current, at, at),
      ...concluded(at),
    ]);
  };

const ownHold = (state: WalletState, walletId: WalletId, invoiceId: InvoiceId): Hold | undefined =>
  state?.holds.find(({ id }) => id === holdIdOf(invoiceId, walletId));

const detailsOf = (invoiceId: InvoiceId): EntryDetails => ({
  reason: 'CREDIT_ADJUSTMENT',
  referenceType: 'INVOICE',
  referenceId: invoiceId,
  description: null,
  idempotencyKey: null,
  metadata: {},
});

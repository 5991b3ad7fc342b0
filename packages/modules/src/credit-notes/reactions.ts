import { type ReactionContext, reaction } from '@counterfoil/engine/define';
import {
  type CreditNoteId,
  type DecimalText,
  decimal,
  derivedId,
  existing,
  invariant,
  Problem,
  textOf,
  type WalletId,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import {
  type AppliedNote,
  type AskedNote,
  applyNote,
  type Invoice,
  invoice,
  noteIn,
  noteOrProblem,
  noteTaxOf,
  reverseAdjustment,
  totalOf,
} from '../invoices/index.ts';
import { creditsReturned, payment } from '../payments/index.ts';
import {
  atItsWorth,
  captureForInvoice,
  type EntryDetails,
  entryOfInvoice,
  giveBack,
  giveCredits,
  wallet,
} from '../wallets/index.ts';
import { type CreditNote, creditNote } from './credit-note.ts';
import {
  chooseWallet,
  finalizeCreditNote,
  type NewCreditNote,
  recordSettled,
  refuseFinalization,
} from './decisions.ts';
import type { CreditNoteEventData } from './events.ts';
import { numberOf } from './number.ts';

/**
 * The consequences of a credit note: its invoice decides whether it counts, and then what was paid goes back, once: credits to
 * the lots that paid, money to a wallet of the customer (D42, E 17 B). An adjustment that becomes void is owed again.
 */
export const creditNotesCarriedOut = reaction(creditNote, {
  name: 'credit note',
  on: {
    FinalizationAsked: async ({ aggregate_id: id }, context) => {
      const note = existing(await context.load(creditNote, id), 'credit note');
      const asked = askedOf(note);
      const { state } = await context.execute(invoice, note.invoice_id, applyNote(asked));
      const decided = existing(state, 'invoice');
      const applied = noteIn(decided, id);
      const problem = applied ? null : noteOrProblem(decided, asked);
      invariant(applied || problem instanceof Problem, `${id} was not applied, and could be`);
      const end = applied ? finalizeCreditNote(applied) : refuseFinalization(problem as Problem);
      await context.execute(creditNote, id, end);
    },
    CreditNoteFinalized: async ({ aggregate_id: id, data }, context) => {
      const note = existing(await context.load(creditNote, id), 'credit note');
      await giveBackOf(context, note, data);
    },
    CreditNoteVoided: async ({ aggregate_id: id }, context) => {
      const note = existing(await context.load(creditNote, id), 'credit note');
      if (note.finalized_at === null) return;
      await context.execute(invoice, note.invoice_id, reverseAdjustment(id));
    },
  },
});

/**
 * A settlement that takes something off an invoice which is not paid is a credit note as well: it stands among the others, and prepaid
 * credits that had paid a part of it go back.
 */
export const notesOfSettlements = reaction(invoice, {
  name: 'credit note of a settlement',
  on: {
    InvoiceAdjusted: async ({ aggregate_id: id, data }, context) => {
      if (!data.credit_note_id.startsWith('settlement_')) return;
      const credited = existing(await context.load(invoice, id), 'invoice');
      const noteId = derivedId('cn', `${data.credit_note_id}\n${id}`);
      const applied = { kind: 'ADJUSTMENT', ...data } as const;
      const record = recordSettled(settledNote(noteId, credited, applied), applied);
      await context.execute(creditNote, noteId, record);
    },
  },
});

/** The credit note of a settlement, whose lines are those that the invoice has taken. */
function settledNote(id: CreditNoteId, credited: Invoice, applied: AppliedNote): NewCreditNote {
  const names = new Map(credited.lines.map((line) => [line.id, line.display_name]));
  return {
    id,
    credit_note_number: numberOf(id),
    invoice_id: credited.id,
    customer_id: credited.customer_id,
    subscription_id: credited.subscription_id,
    currency: credited.currency,
    reason: 'ORDER_CHANGE',
    memo: null,
    metadata: { settlement_id: applied.credit_note_id },
    lines: applied.lines.map(({ line_id, amount }, index) => ({
      id: derivedId('cn_line', `${id}\n${index}`),
      invoice_line_item_id: line_id,
      display_name: names.get(line_id) ?? '',
      amount,
      metadata: {},
    })),
    credit_note_type: 'ADJUSTMENT',
    taxes: applied.lines.map(noteTaxOf),
    total_amount: totalOf(applied),
    settlement_id: applied.credit_note_id,
    idempotency_key: null,
  };
}

/** The note as its invoice is asked for it. */
export const askedOf = ({ id, lines }: Pick<CreditNote, 'id' | 'lines'>): AskedNote => ({
  credit_note_id: id,
  lines: lines.map(({ invoice_line_item_id: line_id, amount }) => ({ line_id, amount })),
});

const detailsOf = ({ id, invoice_id }: CreditNote): Omit<EntryDetails, 'effectiveAt'> => ({
  reason: 'CREDIT_NOTE',
  referenceType: 'INVOICE',
  referenceId: invoice_id,
  description: null,
  idempotencyKey: id,
  metadata: { credit_note_id: id, invoice_id },
});

/** Credits go back to their lots; money, and credits whose wallet is closed, go to a wallet of the customer. */
async function giveBackOf(
  context: ReactionContext,
  note: CreditNote,
  { given_back, from }: CreditNoteEventData<'CreditNoteFinalized'>,
): Promise<void> {
  let money = zero;
  for (const part of given_back) {
    // The invoice may have been credited before what it held was debited.
    const capture = captureForInvoice(part.wallet_id, note.invoice_id);
    await context.execute(wallet, part.wallet_id, capture);
    const { wallet_id: walletId, credits } = part;
    const transactionId = entryOfInvoice(part.hold_id);
    const back = await giveBack(context, { ...detailsOf(note), walletId, transactionId, credits });
    if (back === null) money = money.plus(decimal(part.amount));
  }
  for (const part of from) {
    const left = await payBack(context, note, part);
    money = money.plus(decimal(left));
  }
  if (money.cmp(zero) > 0) await giveMoney(context, note, textOf(money));
}

/** Gives a part of a payment back to the lots that paid it. Returns the money of one that no credits have paid. */
async function payBack(
  context: ReactionContext,
  note: CreditNote,
  { payment_id, amount }: CreditNoteEventData<'CreditNoteFinalized'>['from'][number],
): Promise<DecimalText> {
  const paid = await context.load(payment, payment_id);
  if (!paid?.debit) return amount;
  const before = await paidBackBefore(context, note, payment_id);
  const back = await giveBack(context, {
    ...detailsOf(note),
    walletId: paid.debit.wallet_id,
    transactionId: paid.debit.transaction_id,
    credits: creditsReturned(paid, before, amount),
  });
  return back === null ? amount : zeroText;
}

/** The money of a payment that earlier notes have given back, as the invoice had it when it took this one. */
async function paidBackBefore(
  context: ReactionContext,
  { id, invoice_id }: CreditNote,
  paymentId: string,
): Promise<DecimalText> {
  const { notes } = existing(await context.load(invoice, invoice_id), 'invoice');
  const earlier = notes.slice(
    0,
    notes.findIndex(({ credit_note_id }) => credit_note_id === id),
  );
  const parts = earlier.flatMap((each) => (each.kind === 'REFUND' ? each.from : []));
  const own = parts.filter(({ payment_id }) => payment_id === paymentId);
  return textOf(own.reduce((sum, part) => sum.plus(decimal(part.amount)), zero));
}

/** Loads money into a wallet of the customer, once. The note remembers the wallet before. */
const giveMoney = (
  context: ReactionContext,
  note: CreditNote,
  amount: DecimalText,
): Promise<unknown> =>
  giveCredits(
    context,
    {
      id: note.id,
      customerId: note.customer_id,
      currency: note.currency,
      chosen: note.wallets,
      choose: (walletId: WalletId) => context.execute(creditNote, note.id, chooseWallet(walletId)),
    },
    {
      ...detailsOf(note),
      ...atItsWorth,
      worth: { kind: 'money', amount },
      priority: null,
      expiresAt: null,
    },
  );

import { reaction, type WorkContext } from '@counterfoil/engine/define';
import { type DecimalText, decimal, existing, zeroText } from '@counterfoil/kernel';
import { type EntryDetails, giveBonusBack, takeBonusBack } from '../../wallets/index.ts';
import { amountsOf, type Invoice, type InvoiceState, invoice } from '../invoice.ts';

/**
 * The bonus of a purchase goes with its price: money that went back to the payer is owed again, and as much of the bonus is taken back, as far as it is unspent. What
 * was bought stays, because it is owed; once all is paid again, the bonus is there again.
 */
export const returnedBonuses = reaction(invoice, {
  name: 'bonus of a purchase that is returned',
  on: {
    PurchaseEnded: ({ aggregate_id, revision }, context) => level(context, aggregate_id, revision),
    PaymentReturned: ({ aggregate_id, revision }, context) =>
      level(context, aggregate_id, revision),
    PaymentSettled: ({ aggregate_id, revision }, context) => level(context, aggregate_id, revision),
  },
});

/** The part of the price that was with the payer, as the events of the invoice up to one of them have it. */
interface Level {
  readonly state: InvoiceState;
  /** The most of the price that was with the payer since all of it was paid, before the last event and after it. */
  readonly before: DecimalText;
  readonly most: DecimalText;
  /** Revisions at which something was taken back since then; those that the last event gives back. */
  readonly taken: readonly number[];
  readonly given: readonly number[];
}

const none: Level = { state: null, before: zeroText, most: zeroText, taken: [], given: [] };

async function level(context: WorkContext, id: string, revision: number): Promise<void> {
  const known = existing(await context.load(invoice, id), 'invoice');
  if (known.cause.kind !== 'purchase' || known.purchase !== 'completed') return;
  const { wallet_id: walletId, transaction_id: transactionId } = known.cause;
  const purchase = { walletId, transactionId };
  const { state, before, most, given } = await levelAt(context, id, revision);
  if (state?.purchase !== 'completed') return;
  const whole = amountsOf(state).amount_due;
  if (most !== before) {
    const share = { before, after: most, whole };
    await takeBonusBack(context, { ...purchase, occasion: `${revision}` }, share, detailsOf(state));
  }
  const occasions = given.map((each) => `${each}`);
  await giveBonusBack(context, { ...purchase, occasions }, detailsOf(state));
}

/** The level that the events of an invoice up to one of them have come to: the same whenever it is asked for. */
async function levelAt(context: WorkContext, id: string, revision: number): Promise<Level> {
  let current = none;
  for await (const event of context.history(invoice, id)) {
    if (event.revision > revision) break;
    const state = invoice.evolve(current.state, event);
    current = { ...levelAfter(current, state, event.revision), state };
  }
  return current;
}

function levelAfter(
  { most: before, taken }: Level,
  state: InvoiceState,
  revision: number,
): Omit<Level, 'state'> {
  // What is returned before the credits are loaded is taken back when they are.
  if (state?.purchase !== 'completed') return none;
  const owed = amountsOf(state).amount_remaining;
  if (owed === zeroText) return { ...none, given: taken };
  if (decimal(owed).cmp(decimal(before)) <= 0) return { before, most: before, taken, given: [] };
  return { before, most: owed, taken: [...taken, revision], given: [] };
}

const detailsOf = ({ id }: Invoice): EntryDetails => ({
  reason: 'CREDIT_ADJUSTMENT',
  referenceType: 'INVOICE',
  referenceId: id,
  description: null,
  idempotencyKey: null,
  metadata: {},
});

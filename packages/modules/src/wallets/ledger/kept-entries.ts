import { type DecimalText, decimal, type KeptForm, leavingOut, textOf } from '@counterfoil/kernel';

type Members = Readonly<Record<string, unknown>>;

/** The members of an order or an entry that are absent where they say nothing new. */
const impliedByOrder = (data: Members): Members => ({
  topup_conversion_rate: data.conversion_rate,
  reference_type: null,
  // A caller who names no reference refers to the key of the request.
  reference_id: data.reference_type === 'REQUEST' ? (data.idempotency_key ?? null) : null,
  description: null,
  idempotency_key: null,
  metadata: {},
});

const impliedByLot: Members = { priority: null, expires_at: null };

/** The balance before an entry follows from the one after it. */
const balanceBefore = ({ credits, credit_balance_after }: Members, isIn: boolean): DecimalText => {
  const [moved, after] = [
    decimal(credits as DecimalText),
    decimal(credit_balance_after as DecimalText),
  ];
  return textOf(isIn ? after.minus(moved) : after.plus(moved));
};

const entryForm = (isIn: boolean, implied: Members = {}): KeptForm =>
  leavingOut((data, at) => ({
    ...impliedByOrder(data),
    ...implied,
    effective_at: at,
    credit_balance_before: balanceBefore(data, isIn),
  }));

const orderForm = leavingOut((data) => ({ ...impliedByOrder(data), ...impliedByLot }));

/** The forms in which the log keeps entries of a ledger, and orders. */
export const keptEntries = {
  CreditsLoaded: entryForm(true, impliedByLot),
  CreditsDebited: entryForm(false),
  CreditsExpired: entryForm(false),
  HoldCaptured: entryForm(false),
  DebitReversed: entryForm(true),
  TopUpRequested: orderForm,
  TopUpFailed: orderForm,
} satisfies Readonly<Record<string, KeptForm>>;

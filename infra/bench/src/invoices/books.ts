import { centsOfCalls, feeCents, linesOfWide, type SoldSubscription, walletCents } from './sold.ts';

/** An invoice as far as it is looked at; amounts are texts such as `12.3`. */
export interface ShownInvoice {
  readonly id: string;
  readonly subscription_id?: string | null;
  readonly invoice_number: string | null;
  readonly invoice_status: string;
  readonly subtotal: string;
  readonly total_prepaid_credits_applied: string;
  readonly total_tax: string;
  readonly total: string;
  readonly line_items?: readonly { readonly amount: string }[];
}

export interface Entry {
  readonly wallet_id: string;
  readonly reference_id?: string | null;
  readonly amount: string;
}

/** The figures that an invoice must have, in cents. */
export interface Expected {
  readonly subtotal: number;
  readonly credits: number;
  readonly tax: number;
}

const taxOf = (cents: number): number => Math.round(cents / 10);

/** The opening invoice: the fee, which prepaid credits do not pay. */
export const openingOf = (): Expected => ({
  subtotal: feeCents,
  credits: 0,
  tax: taxOf(feeCents),
});

/** The invoice of the first month: its calls, which the wallet pays as far as it has credits, and the next fee. */
export const cycleOf = ({ calls }: Pick<SoldSubscription, 'calls'>): Expected => {
  const used = centsOfCalls(calls);
  const subtotal = feeCents + used;
  return { subtotal, credits: Math.min(used, walletCents), tax: taxOf(subtotal) };
};

/** An invoice with all lines: 1 to 99 dollars, and no calls. */
export const wideOf = (): Expected => {
  const subtotal = 50 * linesOfWide * (linesOfWide - 1);
  return { subtotal, credits: 0, tax: taxOf(subtotal) };
};

export const centsIn = (text: string): number => Math.round(Number(text) * 100);

/** Says what of an invoice is not as it must be. */
export function wrongFigures(invoice: ShownInvoice, expected: Expected): readonly string[] {
  const { subtotal, credits, tax } = expected;
  const wanted = { subtotal, credits, tax, total: subtotal - credits + tax, lines: subtotal };
  const lines = (invoice.line_items ?? []).map(({ amount }) => centsIn(amount));
  const seen = {
    subtotal: centsIn(invoice.subtotal),
    credits: centsIn(invoice.total_prepaid_credits_applied),
    tax: centsIn(invoice.total_tax),
    total: centsIn(invoice.total),
    lines: lines.reduce((sum, cents) => sum + cents, 0),
  };
  const [is, must] = [JSON.stringify(seen), JSON.stringify(wanted)];
  return is === must ? [] : [`${invoice.id} has ${is} and not ${must}`];
}

/** Says where numbers of one sequence repeat or leave one out: they are those from 1 on. */
export function gapsIn(numbers: readonly (string | null)[]): readonly string[] {
  const places = numbers.map((number) => Number(number?.split('-').at(-1) ?? 'NaN'));
  const sorted = places.toSorted((left, right) => left - right);
  const wrong = sorted.findIndex((place, index) => place !== index + 1);
  return wrong < 0 ? [] : [`number ${wrong + 1} is not there once, but ${sorted[wrong]}`];
}

/** Says where a wallet has not paid its invoice once. */
export function wrongDebits(
  entries: readonly Entry[],
  invoices: ReadonlyMap<string, ShownInvoice>,
  sold: readonly SoldSubscription[],
): readonly string[] {
  const paid = Map.groupBy(entries, ({ wallet_id }) => wallet_id);
  return sold.flatMap((each) => {
    const [first, ...more] = paid.get(each.walletId) ?? [];
    const invoice = invoices.get(each.id);
    const isOne = first !== undefined && more.length === 0;
    const isRight =
      isOne &&
      first.reference_id === invoice?.id &&
      centsIn(first.amount) === cycleOf(each).credits;
    return isRight ? [] : [`${each.walletId} was not debited once for ${invoice?.id}`];
  });
}

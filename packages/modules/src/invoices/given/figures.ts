import { figuresOf } from '../amounts.ts';
import type { Computed } from '../computing.ts';
import type { GivenBill } from '../events.ts';
import type { Invoice } from '../invoice.ts';
import { taxationOf } from '../taxation.ts';
import { billOfGiven, untaxedOfGiven } from './bill.ts';

/** The figures of a draft whose bill was given, with the taxes of now. Throws `TaxesUnavailable`. */
export async function figuresOfGiven(
  context: Parameters<typeof taxationOf>[0],
  draft: Pick<Invoice, 'id' | 'subscription_id' | 'customer_id' | 'currency'> &
    Pick<Invoice, 'period_end' | 'created_at'>,
  given: GivenBill,
): Promise<Computed> {
  const { id, subscription_id, customer_id, currency } = draft;
  const at = draft.period_end ?? draft.created_at;
  const taxation = await taxationOf(context, {
    invoice: { id, subscription_id, customer_id, currency, at },
    ...{ bill: untaxedOfGiven(draft, given), named: given.taxes, purpose: 'invoice' },
  });
  return { ...figuresOf(billOfGiven(draft, given, taxation)), position: null };
}

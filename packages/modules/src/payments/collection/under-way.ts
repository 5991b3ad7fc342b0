import { type CommandContext, where } from '@counterfoil/engine/define';
import { type DecimalText, zeroText } from '@counterfoil/kernel';
import { amountsOf, hasRoom, type Invoice, paymentIn } from '../../invoices/index.ts';
import { type Payment, payment } from '../payment.ts';
import { paymentTable } from '../projection.ts';
import { restOf } from './plan.ts';

/** Payments of one invoice that are looked at. */
const paymentsRead = 1_000;

/**
 * The part of an invoice that can be collected: what remains, less what is under way already. Who charged for that again would have
 * the customer pay twice. Where a caller has said that a payment is on its way, of whatever amount, that is nothing; so it is where the
 * invoice takes no more payments.
 */
export async function collectable(
  context: Pick<CommandContext, 'load' | 'read'>,
  state: Invoice,
): Promise<DecimalText> {
  if (state.noted === 'INITIATED' || state.noted === 'PROCESSING' || !hasRoom(state))
    return zeroText;
  const ids = await context.read.ids(
    paymentTable,
    [
      ...where('destination_id', 'eq', state.id),
      ...where('payment_status', 'in', ['PENDING', 'PROCESSING', 'SUCCEEDED']),
    ],
    paymentsRead,
  );
  const unknown = ids.filter((id) => paymentIn(state, id) === undefined);
  const states = await Promise.all(unknown.map((id) => context.load(payment, id)));
  const coming = states.flatMap((each) => (each ? comingBy(each) : []));
  return restOf(amountsOf(state).amount_remaining, coming);
}

/** The money of a payment that is on its way, or there without the invoice knowing. */
function comingBy({
  payment_status,
  amount,
  applied,
}: Payment): readonly { readonly amount: DecimalText }[] {
  switch (payment_status) {
    case 'PENDING':
    case 'PROCESSING':
      return [{ amount }];
    case 'SUCCEEDED':
      return [{ amount: applied?.to_destination ?? amount }];
    case 'INITIATED':
    case 'FAILED':
    case 'PARTIALLY_REFUNDED':
    case 'REFUNDED':
    case 'VOIDED':
      return [];
    default:
      return payment_status satisfies never;
  }
}

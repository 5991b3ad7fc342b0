import { type CommandContext, where } from '@counterfoil/engine/define';
import { type DecimalText, zeroText } from '@counterfoil/kernel';
import { amountsOf, type Invoice, paymentIn } from '../../invoices/index.ts';
import { isOpen, type Payment, payment } from '../payment.ts';
import { paymentTable } from '../projection.ts';
import { restOf } from './plan.ts';

/** Payments of one invoice that are looked at. */
const paymentsRead = 1_000;

/**
 * The part of an invoice that can be collected: what remains, less what is under way already. Who charged for that again would have
 * the customer pay twice. Where a caller has said that a payment is on its way, of whatever amount, that is nothing.
 */
export async function collectable(
  context: Pick<CommandContext, 'load' | 'read'>,
  state: Invoice,
): Promise<DecimalText> {
  if (state.noted === 'INITIATED' || state.noted === 'PROCESSING') return zeroText;
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
  const coming = states.flatMap((each) => (each && isComing(each) ? [each] : []));
  return restOf(amountsOf(state).amount_remaining, coming);
}

/** Tells whether the money of a payment is on its way, or there without its invoice knowing. */
const isComing = (state: Payment): boolean =>
  isOpen(state) ? state.payment_status !== 'INITIATED' : isUntold(state);

const isUntold = ({ payment_status, applied }: Payment): boolean =>
  payment_status === 'SUCCEEDED' && applied === null;

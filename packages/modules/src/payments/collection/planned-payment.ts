import type { Invoice } from '../../invoices/index.ts';
import { type AskedProvider, createAndProcess } from '../decisions.ts';
import type { PlannedPayment } from './collection.ts';

/**
 * A payment of an invoice that nobody has asked for by a request: made by the first who comes.
 *
 * @param round the round of collection that it is of; null: none
 */
export const createPlanned =
  (
    state: Invoice,
    planned: PlannedPayment,
    round: number | null,
    provider: AskedProvider | null,
  ): ReturnType<typeof createAndProcess> =>
  (before, at) =>
    before === null
      ? createAndProcess(
          {
            id: planned.payment_id,
            destination_type: 'INVOICE',
            destination_id: state.id,
            customer_id: state.customer_id,
            invoice_number: state.invoice_number,
            currency: state.currency,
            amount: planned.amount,
            payment_method_type: planned.method,
            wallet_id: planned.wallet_id,
            collection_round: round,
            payment_method_id: planned.payment_method_id,
            payment_gateway: null,
            gateway_payment_id: null,
            gateway_tracking_id: null,
            error_message: null,
            metadata: {},
            gateway_options: {},
            success_url: null,
            cancel_url: null,
            save_card_and_make_default: false,
            idempotency_key: null,
          },
          provider,
        )(before, at)
      : [];

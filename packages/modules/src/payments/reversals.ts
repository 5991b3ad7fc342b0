import { reaction } from '@counterfoil/engine/define';
import { transactionTable, wallet } from '../wallets/index.ts';
import { payment } from './payment.ts';
import { returnReversed } from './returns.ts';

/**
 * An entry by which a wallet has paid an invoice can be reversed like any other (D74): then the money is owed again. What goes
 * back because of a payment, a void or a credit note has reasons of its own, and was told to the invoice before.
 */
export const reversedPayments = reaction(wallet, {
  name: 'payment that is reversed',
  on: {
    DebitReversed: async ({ data }, context) => {
      if (data.reason !== 'CREDIT_ADJUSTMENT') return;
      const { transaction_id: reversal_id, reverses: transaction_id, credits, reversed } = data;
      const found = await context.read.find(transactionTable, transaction_id);
      const { reference_type, reference_id } = found?.resource ?? {};
      if (reference_type !== 'PAYMENT' || reference_id === undefined) return;
      const back = returnReversed({ reversal_id, transaction_id, credits, reversed });
      await context.execute(payment, reference_id, back);
    },
  },
});

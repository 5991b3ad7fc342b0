import { reaction } from '@counterfoil/engine/define';
import { type Decimal, decimal, minorUnits, shareOf, textOf, zero } from '@counterfoil/kernel';
import type { Settlement } from '../settlement/index.ts';
import { subscription } from '../subscription.ts';
import { giveSubscriptionCredits } from './wallet-credits.ts';

/** The part that a settlement gives back beyond what it charges goes to the customer's wallet (D33, ADR 41). */
export const creditsOfSettlements = reaction(subscription, {
  name: 'credits of a settlement',
  on: {
    SettlementRecorded: async ({ aggregate_id: id, data }, context) => {
      const { settlement_id, net_amount, reason, at } = data;
      const left = zero.minus(decimal(net_amount));
      if (left.cmp(zero) <= 0) return;
      const tax = taxOf(data, left);
      await giveSubscriptionCredits(context, id, {
        worth: { kind: 'money', amount: textOf(left.plus(tax)) },
        conversion_rate: null,
        topup_conversion_rate: null,
        referenceType: 'EXTERNAL',
        referenceId: settlement_id,
        description: null,
        idempotencyKey: settlement_id,
        metadata: { subscription_id: id, settlement_id, reason, at },
        priority: null,
        expiresAt: null,
      });
    },
  },
});

/** The tax of the part of all credits that goes to the wallet; the rest is on an invoice with charges, which has its own. */
function taxOf({ lines, credit_amount, currency }: Settlement, left: Decimal): Decimal {
  const tax = lines.reduce(
    (sum, line) => (line.kind === 'credit' ? sum.plus(decimal(line.tax ?? '0')) : sum),
    zero,
  );
  const units = (amount: Decimal): bigint =>
    BigInt(amount.times(decimal(`1e${minorUnits(currency)}`)).toFixed(0));
  return decimal(shareOf(tax, units(left), units(decimal(credit_amount)), currency));
}

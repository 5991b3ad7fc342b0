import { reaction } from '@counterfoil/engine/define';
import { decimal, textOf, zero } from '@counterfoil/kernel';
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
      await giveSubscriptionCredits(context, id, {
        worth: { kind: 'money', amount: textOf(left) },
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

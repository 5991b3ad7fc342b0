import { reaction } from '@counterfoil/engine/define';
import { giveSubscriptionCredits } from '../credits/wallet-credits.ts';
import { subscription } from '../subscription.ts';

/** Credits that a subscription grants go to the customer's wallet (E 19), unless they had expired before they were given. */
export const grantedCredits = reaction(subscription, {
  name: 'credits of a grant',
  on: {
    CreditsGranted: async ({ aggregate_id: id, data, stamp }, context) => {
      const { application_id, grant_id, expires_at } = data;
      if (expires_at !== null && expires_at <= stamp.occurred_at) return;
      await giveSubscriptionCredits(context, id, {
        worth: { kind: 'credits', credits: data.credits },
        conversion_rate: data.conversion_rate,
        topup_conversion_rate: data.topup_conversion_rate,
        referenceType: 'EXTERNAL',
        referenceId: application_id,
        description: data.name,
        idempotencyKey: application_id,
        metadata: { subscription_id: id, credit_grant_id: grant_id },
        priority: data.priority,
        expiresAt: expires_at,
      });
    },
  },
});

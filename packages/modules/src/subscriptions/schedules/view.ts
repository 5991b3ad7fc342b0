import { withoutNulls } from '@counterfoil/kernel';
import type { Schedule } from '../schema.ts';
import type { Subscription } from '../subscription.ts';

/** The changes that are to come for a subscription because somebody has asked for them: none for one that has ended. */
export const schedulesOf = ({
  id,
  subscription_status: status,
  cancellation,
  plan_change,
}: Subscription): Schedule[] => [
  ...(cancellation === null || status === 'cancelled'
    ? []
    : [
        withoutNulls({
          id: cancellation.schedule_id,
          subscription_id: id,
          schedule_type: 'cancellation' as const,
          schedule_status: 'pending' as const,
          scheduled_at: cancellation.cancel_at,
          cancellation_type: cancellation.cancellation_type,
          reason: cancellation.reason,
          created_at: cancellation.created_at,
        }),
      ]),
  ...(plan_change === null
    ? []
    : [
        {
          id: plan_change.schedule_id,
          subscription_id: id,
          schedule_type: 'plan_change' as const,
          schedule_status: 'pending' as const,
          scheduled_at: plan_change.at,
          target_plan_id: plan_change.to.plan_id,
          created_at: plan_change.created_at,
        },
      ]),
];

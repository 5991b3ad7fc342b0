import { type SubscriptionId, withoutNulls } from '@counterfoil/kernel';
import { earlierEnd } from '../lines/line.ts';
import type { Subscription } from '../subscription.ts';
import type { Phase } from './phase.ts';
import type { PhaseResource } from './schema.ts';

/** A phase as the API shows it, cut at the end of its subscription. */
export function phaseView(
  { id: subscription_id, end_date }: Pick<Subscription, 'end_date'> & { id: SubscriptionId },
  phase: Phase,
): PhaseResource {
  const { entitlements: _, has_begun: __, ...shown } = phase;
  return withoutNulls({
    ...shown,
    status: 'published' as const,
    subscription_id,
    end_date: earlierEnd(phase.end_date, end_date),
  });
}

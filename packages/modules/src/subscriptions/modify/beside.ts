import type { RequestContext } from '@counterfoil/engine/define';
import { existingSubscription, type SubscriptionDecision } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import { type Subscription, subscription } from '../subscription.ts';
import type { ChangedResources } from './schema.ts';

/** The part of a modification that lies outside of the stream of its subscription. Done again, each step changes nothing. */
export interface Beside {
  /** Throws the Problem with which it would be refused now, and changes nothing. */
  readonly check: () => Promise<void>;
  /** Does what has to be there before the subscription is recorded, as the last that can fail. */
  readonly before?: () => Promise<void>;
  /** Does what follows on the decision; the same request again goes on where it has ended. */
  readonly after?: () => Promise<void>;
  /** The events that it brings back to the subscription, for a preview. */
  readonly foreseen?: (subscription: Subscription) => readonly SubscriptionEvent[];
  /** The records that it has changed, or would: for the answer. */
  readonly changed: () => Promise<Partial<ChangedResources>>;
}

/** A modification that has no part outside of the stream of its subscription. */
export const nothingBeside: Beside = {
  check: async () => undefined,
  changed: async () => ({}),
};

/** A decision with what belongs to it in other streams. */
export interface Modification {
  readonly decision: SubscriptionDecision;
  readonly beside: Beside;
}

/**
 * The decision of a modification, after what has to be there before it. A request that would be refused has changed nothing
 * elsewhere.
 */
export async function readied(
  context: RequestContext,
  id: string,
  { decision, beside }: Modification,
): Promise<SubscriptionDecision> {
  if (beside === nothingBeside) return decision;
  decision(existingSubscription(await context.load(subscription, id), id), context.now);
  await beside.check();
  await beside.before?.();
  return decision;
}

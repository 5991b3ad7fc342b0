import type { RequestContext } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { existingSubscription, type SubscriptionDecision } from '../decisions.ts';
import type { AddAddonParams } from '../schema.ts';
import { subscription } from '../subscription.ts';
import { attachAddon, removeAddon } from './decisions.ts';
import { orderedAddon } from './order-addon.ts';
import type { RemoveAddon } from './schema.ts';

/** The command that attaches an add-on, after all that it refers to was found. */
export async function attachingAddon(
  context: RequestContext,
  id: string,
  body: AddAddonParams,
  at: Instant | null,
  pointer = '',
): Promise<SubscriptionDecision> {
  const association_id = context.newId('addon_assoc');
  const current = existingSubscription(await context.load(subscription, id), id);
  const { currency, cycle } = current;
  const rhythm = { unit: cycle.unit, count: cycle.count };
  const ordering = { id: current.id, currency, rhythm, start: at ?? context.now };
  const ordered = await orderedAddon(context, ordering, association_id, body, pointer);
  const proration = body.proration_behavior ?? current.proration_behavior;
  return attachAddon(id, ordered, { proration, at });
}

/** The command that ends an add-on. */
export const removingAddon = (
  id: string,
  { addon_association_id, effective_date, proration_behavior, reason }: RemoveAddon,
): SubscriptionDecision =>
  removeAddon(id, {
    addon_association_id,
    effective_date: effective_date ?? null,
    proration: proration_behavior ?? 'none',
    reason: reason || null,
  });

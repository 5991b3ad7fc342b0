import { type ReactionContext, reaction } from '@counterfoil/engine/define';
import type { SubscriptionId } from '@counterfoil/kernel';
import type { CreatedData } from '../events.ts';
import { subscription } from '../subscription.ts';
import { joinParent, noteMember } from './decisions.ts';
import type { HeirData } from './family.ts';
import { disinherit, follow, inherit, inheritedTerms } from './following.ts';

type Opened = Parameters<typeof inherit>[1];

/** Creates what customers have who inherit a subscription. */
async function createInherited(
  context: ReactionContext,
  terms: CreatedData,
  heirs: readonly HeirData[],
  opened: Opened,
): Promise<void> {
  for (const heir of heirs) {
    const own = inheritedTerms(terms, heir);
    await context.execute(subscription, heir.subscription_id, inherit(own, opened));
  }
}

/**
 * Carries out on others what was decided on a subscription of a family (E 10.9): those who inherit it live through what it
 * does, and those that are invoiced with another one are known there.
 */
export const families = reaction(subscription, {
  name: 'families of subscriptions',
  on: {
    SubscriptionCreated: async ({ aggregate_id, data }, context) => {
      const id = aggregate_id as SubscriptionId;
      const { heirs, grouped, parent } = data.family;
      await createInherited(context, data, heirs, null);
      for (const member of grouped) {
        await context.execute(subscription, member, joinParent(id));
      }
      if (parent?.relation === 'grouped_invoicing') {
        await context.execute(subscription, parent.subscription_id, noteMember(id, true));
      }
    },
    HeirsChanged: async ({ data }, context) => {
      await createInherited(context, data.terms, data.added, data.opened);
      for (const id of data.removed) await context.execute(subscription, id, disinherit(data.at));
    },
    HeirsTold: async ({ data }, context) => {
      for (const id of data.heirs) await context.execute(subscription, id, follow(data.events));
    },
    ParentChanged: async ({ aggregate_id, data: { parent, before } }, context) => {
      const id = aggregate_id as SubscriptionId;
      if (before !== null) await context.execute(subscription, before, noteMember(id, false));
      if (parent !== null) {
        await context.execute(subscription, parent.subscription_id, noteMember(id, true));
      }
    },
  },
});

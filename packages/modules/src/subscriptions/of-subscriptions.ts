import type { RequestContext } from '@counterfoil/engine/define';
import { type CreditGrantId, existing, invariant, notFound } from '@counterfoil/kernel';
import { feature, featureView } from '../features/index.ts';
import {
  type CreditGrant,
  type Entitlement,
  forItem,
  grantableFeature,
  type OfSubscriptions,
  once,
} from '../offers/index.ts';
import type { SubscriptionDecision } from './decisions.ts';
import { addEntitlements, changeEntitlement, removeEntitlement } from './entitlements/own.ts';
import { ownEntitlementTable, ownEntitlementView } from './entitlements/projection.ts';
import { addGrant, changeGrant, endGrant } from './grants/decisions.ts';
import { ownGrant } from './grants/grant.ts';
import { subscriptionGrantTable } from './grants/grant-table.ts';
import { type Subscription, subscription } from './subscription.ts';
import { grantView } from './view.ts';

/** The entitlements and grants of subscriptions themselves, in their streams, for the routes of those. */
export const ofSubscriptions: OfSubscriptions = {
  entitlements: ownEntitlementTable,
  grants: subscriptionGrantTable,

  createEntitlements: async (context, id, requests, isSingle) => {
    const { state, events } = await context.execute(subscription, id, {
      prepare: async () => {
        await assertThere(context, id, 'entity_id');
        const grantable = once((featureId) => grantableFeature(context, featureId));
        const asked = requests.map(async (request, index) => {
          const found = () => grantable(request.feature_id);
          const { type } = await (isSingle ? found() : forItem(index, found));
          const pointer = isSingle ? '' : `/items/${index}`;
          return { request, feature_type: type, pointer };
        });
        return addEntitlements(id, await Promise.all(asked));
      },
    });
    const made = events.flatMap((event) =>
      event.type === 'EntitlementAdded' ? event.data.entitlement.entitlement_id : [],
    );
    return Promise.all(made.map((each) => shownEntitlement(context, state, each)));
  },

  updateEntitlement: async (context, { id, entity_id }, request) => {
    const change = changeEntitlement(entity_id, id, request);
    const { state } = await context.execute(subscription, entity_id, change);
    return shownEntitlement(context, state, id);
  },

  deleteEntitlement: async (context, { id, entity_id }) => {
    await context.execute(subscription, entity_id, removeEntitlement(entity_id, id));
  },

  createGrant: async (context, id, request) => {
    const { state, events } = await context.execute(subscription, id, {
      prepare: async (): Promise<SubscriptionDecision> => {
        await assertThere(context, id, 'subscription_id');
        return addGrant(id, ownGrant(request, context.newId('cg'), ''));
      },
    });
    const added = events.find((event) => event.type === 'GrantAdded');
    invariant(added, 'a command that adds a grant has added one');
    return shownGrant(existing(state, 'subscription'), added.data.id);
  },

  updateGrant: async (context, { id, subscription_id }, { name, metadata, end_date }) => {
    const of = ownerOf(id, subscription_id);
    const change = changeGrant(of, id as CreditGrantId, { name, metadata, end_date });
    const { state } = await context.execute(subscription, of, change);
    return shownGrant(existing(state, 'subscription'), id);
  },

  endGrant: async (context, { id, subscription_id, end_date }, effective) => {
    const of = ownerOf(id, subscription_id);
    const ended = await context.execute(
      subscription,
      of,
      endGrant(of, id as CreditGrantId, effective),
    );
    const grant = ended.state?.grants.find((each) => each.id === id);
    return grant?.end_date ?? end_date ?? context.now;
  },
};

/** Refuses a subscription that does not exist, naming the field of the request: 404. */
async function assertThere(context: RequestContext, id: string, field: string): Promise<void> {
  const found = await context.load(subscription, id);
  if (!found || found.status === 'deleted') throw notFound('subscription', id, field);
}

function ownerOf(id: string, subscriptionId: string | undefined): string {
  invariant(subscriptionId, `the grant ${id} is of no subscription`);
  return subscriptionId;
}

/** An entitlement that a command has written, with its feature as the log has it now. */
async function shownEntitlement(
  context: RequestContext,
  state: Subscription | null,
  id: string,
): Promise<Entitlement> {
  const { entitlements } = existing(state, 'subscription');
  const granted = entitlements.find(({ entitlement_id }) => entitlement_id === id);
  invariant(granted?.stamps, `the entitlement ${id} was written, and is not there`);
  const record = await context.load(feature, granted.feature_id);
  const shown = ownEntitlementView({ granted, stamps: granted.stamps, status: 'published' });
  return record ? { ...shown, feature: featureView(record) } : shown;
}

function shownGrant(owner: Subscription, id: string): CreditGrant {
  const grant = owner.grants.find((each) => each.id === id);
  invariant(grant, `the grant ${id} was written, and is not there`);
  return grantView(owner, grant);
}

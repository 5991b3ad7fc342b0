import {
  type Change,
  type Embedded,
  type PublicEvent,
  type PublicEventTypes,
  publicEvents,
} from '@counterfoil/engine/define';
import { z } from 'zod';
import { customerRecords } from '../customers/index.ts';
import { featureRecords } from '../features/index.ts';
import { entitlementEventTypes } from '../offers/index.ts';
import type { HeldEntitlement } from './entitlements/granted.ts';
import { ownEntitlementView } from './entitlements/projection.ts';
import type { SubscriptionEvent } from './events.ts';
import { phaseMessages, phaseMessageTypes } from './phases/messages.ts';
import { subscriptionSchema } from './schema.ts';
import { type SubscriptionState, subscription } from './subscription.ts';
import { subscriptionView } from './view.ts';

type SubscriptionChange = Change<SubscriptionState, SubscriptionEvent>;

/**
 * The messages of an event, each with the subscription as it is from then on (E 22.3). What is settled has none of its
 * own: it stands with what caused it.
 */
function subscriptionMessages(
  change: SubscriptionChange,
  { feature, ...embedded }: Embedded<'customer' | 'feature'>,
): readonly PublicEvent[] {
  const { event, after } = change;
  if (!after) return [];
  const told = (tail: string): PublicEvent => ({
    type: `subscription.${tail}`,
    resourceId: after.id,
    body: { subscription: { ...subscriptionView(after), ...embedded } },
  });
  switch (event.type) {
    case 'SubscriptionCreated':
      return [told(event.data.is_draft ? 'draft.created' : 'created'), ...phaseMessages(change)];
    case 'PhaseAdded':
    case 'PhaseRemoved':
      return [...phaseMessages(change), told('updated')];
    case 'PhaseChanged':
      return phaseMessages(change);
    case 'SubscriptionActivated':
    case 'TrialEnded':
      // One that waits for its first payment is activated by that.
      return [told(after.subscription_status === 'incomplete' ? 'updated' : 'activated')];
    case 'FirstPaymentMade':
      return [told('activated')];
    case 'SubscriptionUpdated':
    case 'LinesChanged':
    case 'AddonAttached':
    case 'AddonRemoved':
    case 'AddonBegun':
    case 'AddonEnded':
    case 'CouponAttached':
    case 'CouponDetached':
    case 'PhaseBegun':
    case 'GrantAdded':
    case 'GrantChanged':
    case 'SubscriptionDeleted':
    case 'CancellationScheduled':
    case 'CancellationReverted':
    case 'PeriodOpened':
    case 'TrialMoved':
    case 'HeirsChanged':
    case 'ParentChanged':
    case 'MemberChanged':
    case 'PlanChangeScheduled':
    case 'PlanChangeReverted':
    case 'PauseScheduled':
    case 'PauseEndChanged':
    case 'PauseCancelled':
      return [told('updated')];
    case 'HeirsTold':
    case 'PeriodClosed':
    case 'SettlementRecorded':
    case 'ChargesInvoiced':
    case 'ChargesReturned':
    case 'CreditsGranted':
    case 'CreditsSkipped':
    case 'PlanChanged':
    case 'WalletChosen':
      return [];
    case 'EntitlementAdded':
    case 'EntitlementChanged':
    case 'EntitlementRemoved': {
      const granted = entitlementOf(change);
      if (!granted?.stamps) return [];
      const { stamps } = granted;
      const status = event.type === 'EntitlementRemoved' ? 'deleted' : 'published';
      const shown = ownEntitlementView({ granted, stamps, status });
      const entitlement = { ...shown, ...(feature && { feature }) };
      return [{ type: entitlementTypes[event.type], resourceId: shown.id, body: { entitlement } }];
    }
    case 'PauseStarted':
      return [told('updated'), told('paused')];
    case 'PauseEnded':
      // The end of the subscription ends its pause as well, and is told alone.
      return event.data.cause === 'cancellation' ? [] : [told('updated'), told('resumed')];
    case 'RenewalNoticed':
      return [told('renewal.due')];
    case 'SubscriptionCancelled':
      return [told('updated'), told('cancelled')];
    default:
      return event satisfies never;
  }
}

const entitlementTypes = {
  EntitlementAdded: 'entitlement.created',
  EntitlementChanged: 'entitlement.updated',
  EntitlementRemoved: 'entitlement.deleted',
} as const;

/** The entitlement of its own that a change of a subscription is about; a removed one as it was. */
function entitlementOf({ event, before, after }: SubscriptionChange): HeldEntitlement | null {
  const id =
    event.type === 'EntitlementAdded'
      ? event.data.entitlement.entitlement_id
      : event.type === 'EntitlementChanged' || event.type === 'EntitlementRemoved'
        ? event.data.entitlement_id
        : null;
  if (id === null) return null;
  const all = [...(after?.entitlements ?? []), ...(before?.entitlements ?? [])];
  return all.find(({ entitlement_id }) => entitlement_id === id) ?? null;
}

const body = z.object({ subscription: subscriptionSchema });

const types: PublicEventTypes = {
  ...entitlementEventTypes,
  'subscription.created': { summary: 'A subscription is created', body },
  'subscription.draft.created': { summary: 'A draft of a subscription is created', body },
  'subscription.activated': {
    summary: 'A draft is activated, a trial is over, or the first payment has come',
    body,
  },
  'subscription.updated': { summary: 'A subscription changes, or its next period begins', body },
  ...phaseMessageTypes,
  'subscription.paused': { summary: 'A pause begins', body },
  'subscription.resumed': { summary: 'A pause is over', body },
  'subscription.cancelled': { summary: 'A subscription has ended', body },
  'subscription.renewal.due': {
    summary: 'The period of a subscription ends soon, and another one follows',
    kind: 'entry',
    body,
  },
};

/** The public events of subscriptions, each with its customer. */
export const subscriptionPublicEvents = publicEvents(subscription, subscriptionMessages, types, {
  customer: { record: customerRecords, id: ({ after }) => after?.customer_id },
  feature: { record: featureRecords, id: (change) => entitlementOf(change)?.feature_id },
});

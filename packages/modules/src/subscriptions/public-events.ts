import {
  type Change,
  type Embedded,
  type PublicEvent,
  type PublicEventTypes,
  publicEvents,
} from '@counterfoil/engine/define';
import { z } from 'zod';
import { customerRecords } from '../customers/index.ts';
import type { SubscriptionEvent } from './events.ts';
import { subscriptionSchema } from './schema.ts';
import { type SubscriptionState, subscription } from './subscription.ts';
import { subscriptionView } from './view.ts';

/**
 * The messages of an event, each with the subscription as it is from then on (E 22.3). What is settled has none of its
 * own: it stands with what caused it.
 */
function subscriptionMessages(
  { event, after }: Change<SubscriptionState, SubscriptionEvent>,
  embedded: Embedded<'customer'>,
): readonly PublicEvent[] {
  if (!after) return [];
  const told = (tail: string): PublicEvent => ({
    type: `subscription.${tail}`,
    resourceId: after.id,
    body: { subscription: { ...subscriptionView(after), ...embedded } },
  });
  switch (event.type) {
    case 'SubscriptionCreated':
      return [told(event.data.is_draft ? 'draft.created' : 'created')];
    case 'SubscriptionActivated':
    case 'TrialEnded':
      return [told('activated')];
    case 'SubscriptionUpdated':
    case 'LinesChanged':
    case 'SubscriptionDeleted':
    case 'CancellationScheduled':
    case 'CancellationReverted':
    case 'PeriodOpened':
      return [told('updated')];
    case 'PeriodClosed':
    case 'SettlementRecorded':
    case 'CreditsGranted':
    case 'WalletChosen':
      return [];
    case 'RenewalNoticed':
      return [told('renewal.due')];
    case 'SubscriptionCancelled':
      return [told('updated'), told('cancelled')];
    default:
      return event satisfies never;
  }
}

const body = z.object({ subscription: subscriptionSchema });

const types: PublicEventTypes = {
  'subscription.created': { summary: 'A subscription is created', body },
  'subscription.draft.created': { summary: 'A draft of a subscription is created', body },
  'subscription.activated': { summary: 'A draft is activated, or a trial is over', body },
  'subscription.updated': { summary: 'A subscription changes, or its next period begins', body },
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
});

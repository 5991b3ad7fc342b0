import { type PublicEvent, type PublicEventTypes, publicEvents } from '@counterfoil/engine/define';
import { z } from 'zod';
import { entitlementSchema } from './entitlement/schema.ts';
import { creditGrantSchema } from './grant/schema.ts';
import { type Offer, type OfferState, offer } from './offer.ts';
import { priceSchema } from './price/schema.ts';
import { recordWith } from './records.ts';
import { addonSchema, costsheetSchema, planSchema } from './root/schema.ts';
import {
  addonView,
  costsheetView,
  creditGrantView,
  entitlementView,
  planView,
  priceView,
} from './views.ts';

const messageTypes = {
  PlanCreated: 'plan.created',
  PlanUpdated: 'plan.updated',
  PlanArchived: 'plan.deleted',
  AddonCreated: 'addon.created',
  AddonUpdated: 'addon.updated',
  AddonArchived: 'addon.deleted',
  CostsheetCreated: 'costsheet.created',
  CostsheetUpdated: 'costsheet.updated',
  CostsheetDeleted: 'costsheet.deleted',
  PriceCreated: 'price.created',
  PriceUpdated: 'price.updated',
  PriceEnded: 'price.ended',
  EntitlementCreated: 'entitlement.created',
  EntitlementUpdated: 'entitlement.updated',
  EntitlementDeleted: 'entitlement.deleted',
  CreditGrantCreated: 'credit_grant.created',
  CreditGrantUpdated: 'credit_grant.updated',
  CreditGrantEnded: 'credit_grant.ended',
} as const;

/** The three things that happen to a record of one kind, told with the record as it is then. */
const told = (
  kind: string,
  what: string,
  schema: z.ZodType,
  last: readonly [tail: string, summary: string],
): PublicEventTypes => {
  const body = z.object({ [kind]: schema });
  return {
    [`${kind}.created`]: { summary: `${what} is created`, body },
    [`${kind}.updated`]: { summary: `${what} changes`, body },
    [`${kind}.${last[0]}`]: { summary: `${what} ${last[1]}`, body },
  };
};

const publicationTypes: PublicEventTypes = {
  ...told('plan', 'A plan', planSchema, ['deleted', 'is archived']),
  ...told('addon', 'An add-on', addonSchema, ['deleted', 'is archived']),
  ...told('costsheet', 'A costsheet', costsheetSchema, ['deleted', 'is deleted']),
  ...told('price', 'A price', priceSchema, ['ended', 'ends, now or at a later date']),
  ...told('entitlement', 'An entitlement', entitlementSchema, ['deleted', 'is deleted']),
  ...told('credit_grant', 'A credit grant', creditGrantSchema, ['ended', 'ends']),
};

/**
 * Every change of an offer is published as a change of the record that it is about, with that
 * record as it is afterwards; a deleted one as it was. What goes out of use together with its
 * offer is not told of one by one.
 */
export const offerPublicEvents = publicEvents(
  offer,
  ({ event, before, after }) => {
    if (!after) return [];
    const publication = (body: PublicEvent['body'], resourceId: string) => [
      { type: messageTypes[event.type], resourceId, body },
    ];
    switch (event.type) {
      case 'PlanCreated':
      case 'PlanUpdated':
      case 'PlanArchived':
      case 'AddonCreated':
      case 'AddonUpdated':
      case 'AddonArchived':
      case 'CostsheetCreated':
      case 'CostsheetUpdated':
      case 'CostsheetDeleted':
        return publication(rootBody(after), after.root.record.id);
      case 'PriceCreated':
      case 'PriceUpdated':
      case 'PriceEnded': {
        const { id } = event.data;
        return publication({ price: priceView(recordWith(after.prices, id)) }, id);
      }
      case 'EntitlementCreated':
      case 'EntitlementUpdated':
      case 'EntitlementDeleted': {
        const { id } = event.data;
        return publication({ entitlement: entitlementBody(before, after, id) }, id);
      }
      case 'CreditGrantCreated':
      case 'CreditGrantUpdated':
      case 'CreditGrantEnded': {
        const { id } = event.data;
        const credit_grant = creditGrantView(recordWith(after.credit_grants, id));
        return publication({ credit_grant }, id);
      }
      default:
        return event satisfies never;
    }
  },
  publicationTypes,
);

function rootBody({ root }: Offer): PublicEvent['body'] {
  switch (root.kind) {
    case 'PLAN':
      return { plan: planView(root.record) };
    case 'ADDON':
      return { addon: addonView(root.record) };
    case 'COSTSHEET':
      return { costsheet: costsheetView(root.record) };
    default:
      return root satisfies never;
  }
}

function entitlementBody(before: OfferState, after: Offer, id: string) {
  const now = recordWith(after.entitlements, id);
  if (now) return entitlementView(now);
  const deleted = entitlementView(recordWith(before?.entitlements ?? [], id));
  return { ...deleted, status: 'deleted' };
}

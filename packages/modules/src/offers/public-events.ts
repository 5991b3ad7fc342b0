import {
  type Change,
  type PublicEvent,
  type PublicEventTypes,
  publicEvents,
} from '@counterfoil/engine/define';
import { z } from 'zod';
import { featureRecords } from '../features/index.ts';
import { groupRecords } from '../groups/index.ts';
import { meterRecords } from '../meters/index.ts';
import { priceUnitRecords } from '../pricing-units/index.ts';
import type { EntitlementRecord } from './entitlement/entitlement.ts';
import { entitlementSchema } from './entitlement/schema.ts';
import { creditGrantSchema } from './grant/schema.ts';
import { type Offer, type OfferEvent, type OfferState, offer } from './offer.ts';
import type { PriceRecord } from './price/price.ts';
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

/** The messages about entitlements, whoever owns them. */
export const entitlementEventTypes = told('entitlement', 'An entitlement', entitlementSchema, [
  'deleted',
  'is deleted',
]);

const publicationTypes: PublicEventTypes = {
  ...told('plan', 'A plan', planSchema, ['deleted', 'is archived']),
  ...told('addon', 'An add-on', addonSchema, ['deleted', 'is archived']),
  ...told('costsheet', 'A costsheet', costsheetSchema, ['deleted', 'is deleted']),
  ...told('price', 'A price', priceSchema, ['ended', 'ends, now or at a later date']),
  ...entitlementEventTypes,
  ...told('credit_grant', 'A credit grant', creditGrantSchema, ['ended', 'ends']),
};

type OfferChange = Change<OfferState, OfferEvent>;

/** The entitlement that a change is about, as it is afterwards; a deleted one as it was. */
function entitlementOf({ event, before, after }: OfferChange): EntitlementRecord | null {
  if (!('id' in event.data)) return null;
  const { id } = event.data;
  return recordWith(after?.entitlements ?? [], id) ?? recordWith(before?.entitlements ?? [], id);
}

/** The price that a change is about. */
const priceOf = ({ event, after }: OfferChange): PriceRecord | null =>
  'id' in event.data ? recordWith(after?.prices ?? [], event.data.id) : null;

/**
 * Every change of an offer is published as a change of the record that it is about, with that
 * record as it is afterwards; a deleted one as it was. A price or an entitlement shows inside what it
 * shows to those who get it. What goes out of use together with its offer is not told of one by one.
 */
export const offerPublicEvents = publicEvents(
  offer,
  (change, embedded) => {
    const { event, after } = change;
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
        const price = { ...priceView(priceOf(change)), ...embedded, ...ownerOf(after) };
        return publication({ price }, price.id);
      }
      case 'EntitlementCreated':
      case 'EntitlementUpdated':
      case 'EntitlementDeleted': {
        const isDeleted = event.type === 'EntitlementDeleted';
        const entitlement = {
          ...entitlementView(entitlementOf(change)),
          ...(isDeleted && { status: 'deleted' }),
          ...embedded,
          ...ownerOf(after),
        };
        return publication({ entitlement }, entitlement.id);
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
  {
    feature: { record: featureRecords, id: (change) => entitlementOf(change)?.feature_id },
    meter: { record: meterRecords, id: (change) => priceOf(change)?.meter_id },
    group: { record: groupRecords, id: (change) => priceOf(change)?.group_id },
    pricing_unit: { record: priceUnitRecords, id: (change) => priceOf(change)?.price_unit?.id },
  },
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

/** The plan or add-on, for what it owns; a price does not show its costsheet. */
const ownerOf = (owner: Offer): PublicEvent['body'] =>
  owner.root.kind === 'COSTSHEET' ? {} : rootBody(owner);

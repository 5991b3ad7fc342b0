import { projection, type RecordedEvent } from '@counterfoil/engine/define';
import type { Stamped } from '@counterfoil/kernel';
import { entitlementColumns } from './entitlement/columns.ts';
import {
  type EntitlementEvent,
  type EntitlementRecord,
  entitlementAfter,
  entitlementEvents,
} from './entitlement/entitlement.ts';
import {
  type CreditGrantEvent,
  type CreditGrantRecord,
  creditGrantAfter,
  creditGrantEvents,
} from './grant/credit-grant.ts';
import { type OfferEvent, offer } from './offer.ts';
import { type PriceEvent, type PriceRecord, priceAfter, priceEvents } from './price/price.ts';
import type { Price } from './price/schema.ts';
import { closedRecord, type Kept, type TakenAlong } from './records.ts';
import {
  type AddonEvent,
  type AddonRecord,
  addonRoot,
  type CostsheetEvent,
  type CostsheetRecord,
  costsheetRoot,
  type PlanEvent,
  type PlanRecord,
  planRoot,
} from './root/roots.ts';
import {
  addonView,
  costsheetView,
  creditGrantView,
  entitlementView,
  planView,
  priceView,
} from './views.ts';

const isPlanEvent = (event: RecordedEvent<OfferEvent>): event is RecordedEvent<PlanEvent> =>
  Object.hasOwn(planRoot.events, event.type);

const isAddonEvent = (event: RecordedEvent<OfferEvent>): event is RecordedEvent<AddonEvent> =>
  Object.hasOwn(addonRoot.events, event.type);

const isCostsheetEvent = (
  event: RecordedEvent<OfferEvent>,
): event is RecordedEvent<CostsheetEvent> => Object.hasOwn(costsheetRoot.events, event.type);

const isPriceEvent = (event: RecordedEvent<OfferEvent>): event is RecordedEvent<PriceEvent> =>
  Object.hasOwn(priceEvents, event.type);

const isEntitlementEvent = (
  event: RecordedEvent<OfferEvent>,
): event is RecordedEvent<EntitlementEvent> => Object.hasOwn(entitlementEvents, event.type);

const isCreditGrantEvent = (
  event: RecordedEvent<OfferEvent>,
): event is RecordedEvent<CreditGrantEvent> => Object.hasOwn(creditGrantEvents, event.type);

/** The offer's own row moves on with every event of its stream, and so does its revision. */
const ownKeys =
  (prefix: string) =>
  ({ aggregate_id }: RecordedEvent<OfferEvent>): readonly string[] =>
    aggregate_id.startsWith(prefix) ? [aggregate_id] : [];

/** One row per plan, without what it owns. */
export const planTable = projection(offer, {
  name: 'plans',
  version: 1,
  columns: {
    name: { type: 'text', of: (shown) => shown.name },
    lookup_key: { type: 'text', of: (shown) => shown.lookup_key, index: true },
    display_order: { type: 'integer', of: (shown) => shown.display_order },
  },
  keys: ownKeys('plan_'),
  fold: (row: PlanRecord | null, event) => (isPlanEvent(event) ? planRoot.after(row, event) : row),
  view: planView,
});

/** One row per add-on, without what it owns. */
export const addonTable = projection(offer, {
  name: 'addons',
  version: 1,
  columns: {
    name: { type: 'text', of: (shown) => shown.name },
    lookup_key: { type: 'text', of: (shown) => shown.lookup_key, index: true },
  },
  keys: ownKeys('addon_'),
  fold: (row: AddonRecord | null, event) =>
    isAddonEvent(event) ? addonRoot.after(row, event) : row,
  view: addonView,
});

/** One row per costsheet, without its prices. */
export const costsheetTable = projection(offer, {
  name: 'costsheets',
  version: 1,
  columns: {
    name: { type: 'text', of: (shown) => shown.name },
    lookup_key: { type: 'text', of: (shown) => shown.lookup_key, index: true },
  },
  keys: ownKeys('cost_'),
  fold: (row: CostsheetRecord | null, event) =>
    isCostsheetEvent(event) ? costsheetRoot.after(row, event) : row,
  view: costsheetView,
});

/** Returns what an event takes out of use with its offer; null for every other event. */
function takenAlongBy(event: RecordedEvent<OfferEvent>): TakenAlong | null {
  switch (event.type) {
    case 'PlanArchived':
    case 'AddonArchived':
    case 'CostsheetDeleted':
      return event.data;
    default:
      return null;
  }
}

/** The row of a record whose offer goes out of use. */
function closedRow<Row extends Kept>(row: Row | null, { type, stamp }: Stamped<OfferEvent>) {
  return row && closedRecord(row, type === 'CostsheetDeleted' ? 'deleted' : 'archived', stamp);
}

/** The end of a price without end in its column, so that one comparison finds all in force. */
export const forEver = '9999-12-31T23:59:59.999Z';

/** Until when a price counts. One that was deleted before it began is over since then. */
const countsUntil = ({ start_date, end_date, updated_at }: Price): string => {
  if (end_date === undefined) return forEver;
  return end_date <= start_date ? updated_at : end_date;
};

/** One row per price. */
export const priceTable = projection(offer, {
  name: 'prices',
  version: 3,
  columns: {
    entity_id: { type: 'text', of: (shown) => shown.entity_id, index: true },
    entity_type: { type: 'text', of: (shown) => shown.entity_type },
    meter_id: { type: 'text', of: (shown) => shown.meter_id, index: true },
    group_id: { type: 'text', of: (shown) => shown.group_id, index: true },
    price_unit_id: { type: 'text', of: (shown) => shown.price_unit_id, index: true },
    lookup_key: { type: 'text', of: (shown) => shown.lookup_key, index: true },
    parent_price_id: { type: 'text', of: (shown) => shown.parent_price_id },
    type: { type: 'text', of: (shown) => shown.type },
    billing_model: { type: 'text', of: (shown) => shown.billing_model },
    billing_period: { type: 'text', of: (shown) => shown.billing_period },
    currency: { type: 'text', of: (shown) => shown.currency },
    amount: { type: 'numeric', of: (shown) => shown.amount },
    start_date: { type: 'timestamptz', of: (shown) => shown.start_date },
    end_date: { type: 'timestamptz', of: countsUntil, listed: true },
  },
  keys: (event) => {
    if (isPriceEvent(event)) return [event.data.id];
    return takenAlongBy(event)?.prices ?? [];
  },
  fold: (row: PriceRecord | null, event) =>
    isPriceEvent(event) ? priceAfter(row, event) : closedRow(row, event),
  view: priceView,
});

/** One row per entitlement. */
export const entitlementTable = projection(offer, {
  name: 'entitlements',
  version: 1,
  columns: entitlementColumns,
  keys: (event) => {
    if (isEntitlementEvent(event)) return [event.data.id];
    return takenAlongBy(event)?.entitlements ?? [];
  },
  fold: (row: EntitlementRecord | null, event) =>
    isEntitlementEvent(event) ? entitlementAfter(row, event) : closedRow(row, event),
  view: entitlementView,
});

/** One row per credit grant. */
export const creditGrantTable = projection(offer, {
  name: 'credit_grants',
  version: 1,
  columns: {
    name: { type: 'text', of: (shown) => shown.name },
    scope: { type: 'text', of: (shown) => shown.scope },
    entity_id: { type: 'text', of: (_shown, row) => row?.entity_id, index: true },
    priority: { type: 'integer', of: (shown) => shown.priority },
  },
  keys: (event) => {
    if (isCreditGrantEvent(event)) return [event.data.id];
    return takenAlongBy(event)?.credit_grants ?? [];
  },
  fold: (row: CreditGrantRecord | null, event) =>
    isCreditGrantEvent(event) ? creditGrantAfter(row, event) : closedRow(row, event),
  view: creditGrantView,
});

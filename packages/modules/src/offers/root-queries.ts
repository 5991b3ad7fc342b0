import {
  type ColumnTypes,
  type Found,
  type Page,
  type Projection,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import { invalidField, notFound, type RecordStatus } from '@counterfoil/kernel';
import type { z } from 'zod';
import { foundById } from '../record/index.ts';
import type { Entitlement } from './entitlement/schema.ts';
import type { CreditGrant } from './grant/schema.ts';
import { groupedByOffer, ownedBy, withEntitlementParts, withPriceParts } from './owned.ts';
import type { Price } from './price/schema.ts';
import {
  addonTable,
  costsheetTable,
  creditGrantTable,
  entitlementTable,
  planTable,
  priceTable,
} from './projection.ts';
import type {
  Addon,
  addonSearchSchema,
  Costsheet,
  costsheetSearchSchema,
  Plan,
  PlanExpansion,
  planSearchSchema,
} from './root-schema.ts';

/** The parts of an offer that are to be shown inside of it. */
interface Inside {
  readonly prices: boolean;
  readonly entitlements: boolean;
  readonly creditGrants: boolean;
}

const everything: Inside = { prices: true, entitlements: true, creditGrants: true };

interface Shown {
  readonly id: string;
  readonly status: RecordStatus;
}

/**
 * Offers with what they own, and all that is inside of that: one look-up of each kind for all of
 * them. What belongs to an archived offer is archived like it.
 */
async function withOwned<Offer extends Shown>(
  context: RequestContext,
  offers: readonly Offer[],
  status: RecordStatus,
  inside: Inside,
) {
  const ids = offers.map(({ id }) => id);
  const owned = <Row, Item extends { readonly status: RecordStatus }>(
    table: Projection<string, Row, Item, { readonly entity_id: 'text' }>,
    isAsked: boolean,
  ): Promise<Item[]> => ownedBy(context, table, isAsked ? ids : [], status);
  const pricesOf = async () =>
    byOffer(await withPriceParts(context, await owned(priceTable, inside.prices)));
  const entitlementsOf = async () =>
    byOffer(
      await withEntitlementParts(context, await owned(entitlementTable, inside.entitlements)),
    );
  const grantsOf = async () =>
    groupedByOffer(await owned(creditGrantTable, inside.creditGrants), offerOfGrant);
  const [prices, entitlements, grants] = await Promise.all([
    pricesOf(),
    entitlementsOf(),
    grantsOf(),
  ]);
  return offers.map((offer) => ({
    ...offer,
    ...(inside.prices && { prices: prices.get(offer.id) ?? [] }),
    ...(inside.entitlements && { entitlements: entitlements.get(offer.id) ?? [] }),
    ...(inside.creditGrants && { credit_grants: grants.get(offer.id) ?? [] }),
  }));
}

const byOffer = <Item extends Price | Entitlement>(items: readonly Item[]) =>
  groupedByOffer(items, ({ entity_id }) => entity_id);

const offerOfGrant = ({ plan_id, addon_id }: CreditGrant): string => plan_id ?? addon_id ?? '';

async function found<Row, Offer extends Shown, Columns extends ColumnTypes>(
  context: RequestContext,
  table: Projection<string, Row, Offer, Columns>,
  { what, id, inside }: { readonly what: string; readonly id: string; readonly inside: Inside },
): Promise<Found<Offer>> {
  // The row first: its revision must not be later than what is shown under it.
  const { resource, revision } = await foundById(context, table, what, id);
  const [shown = resource] = await withOwned(context, [resource], resource.status, inside);
  return { resource: shown, revision };
}

/** A plan with its prices, entitlements and credit grants; archived ones included. Throws 404. */
export const getPlan = (context: RequestContext, id: string): Promise<Found<Plan>> =>
  found(context, planTable, { what: 'plan', id, inside: everything });

/** An add-on with what it owns. Throws 404. */
export const getAddon = (context: RequestContext, id: string): Promise<Found<Addon>> =>
  found(context, addonTable, { what: 'add-on', id, inside: everything });

/** The published add-on that has a lookup_key, with what it owns. Throws 404. */
export async function getAddonByLookupKey(
  context: RequestContext,
  key: string,
): Promise<Found<Addon>> {
  const named = await context.read.first(addonTable, [
    ...where('lookup_key', 'eq', key),
    ...where('status', 'eq', 'published'),
  ]);
  if (!named) throw notFound('add-on', key, 'lookup_key');
  return getAddon(context, named.resource.id);
}

const pricesOnly: Inside = { prices: true, entitlements: false, creditGrants: false };

/** A costsheet with its prices. Throws 404. */
export const getCostsheet = (context: RequestContext, id: string): Promise<Found<Costsheet>> =>
  found(context, costsheetTable, { what: 'costsheet', id, inside: pricesOnly });

/** The newest published costsheet with its prices in force or to come; none: 404 (D19). */
export async function getActiveCostsheet(context: RequestContext): Promise<Found<Costsheet>> {
  const newest = await context.read.first(costsheetTable, where('status', 'eq', 'published'));
  if (!newest) throw notFound('costsheet', 'published', 'status');
  const { resource, revision } = await getCostsheet(context, newest.resource.id);
  const prices = resource.prices?.filter(
    ({ start_date, end_date }) =>
      end_date === undefined || (end_date > context.now && end_date > start_date),
  );
  return { resource: { ...resource, ...(prices && { prices }) }, revision };
}

type PlanSearch = Partial<z.output<typeof planSearchSchema>>;

/** Plans of a page at most when they are shown with what they own. */
const expandedMaximum = 100;

const names = (expand: readonly PlanExpansion[], ...wanted: readonly PlanExpansion[]) =>
  wanted.some((name) => expand.includes(name));

/** One page of plans, with what `expand` names inside. */
export async function searchPlans(
  context: RequestContext,
  search: PlanSearch,
): Promise<Page<Plan>> {
  const request = pageRequest(planTable, search);
  const { expand = [] } = search;
  if (expand.length > 0 && request.limit > expandedMaximum) {
    throw invalidField('/limit', `must be at most ${expandedMaximum} with expand`);
  }
  const { items, pagination } = await context.read.list(planTable, request, [
    ...searchFilters(planTable, search),
    ...where('id', 'in', search.plan_ids),
    ...where('lookup_key', 'eq', search.lookup_key),
    ...where('metadata', 'metadata', search.metadata),
  ]);
  const inside: Inside = {
    prices: names(expand, 'prices', 'meters', 'priceunit', 'groups'),
    entitlements: names(expand, 'entitlements', 'features'),
    creditGrants: names(expand, 'credit_grant', 'credit_grants'),
  };
  const status = search.status ?? 'published';
  return { items: await withOwned(context, items, status, inside), pagination };
}

type AddonSearch = Partial<z.output<typeof addonSearchSchema>>;

/** One page of add-ons, without what they own. */
export const searchAddons = (context: RequestContext, search: AddonSearch): Promise<Page<Addon>> =>
  context.read.list(addonTable, pageRequest(addonTable, search), [
    ...searchFilters(addonTable, search),
    ...where('id', 'in', search.addon_ids),
    ...where('lookup_key', 'in', search.lookup_keys),
  ]);

type CostsheetSearch = Partial<z.output<typeof costsheetSearchSchema>>;

/** One page of costsheets, without their prices. */
export const searchCostsheets = (
  context: RequestContext,
  search: CostsheetSearch,
): Promise<Page<Costsheet>> =>
  context.read.list(costsheetTable, pageRequest(costsheetTable, search), [
    ...searchFilters(costsheetTable, search),
    ...where('id', 'in', search.costsheetIDs),
    ...where('lookup_key', 'eq', search.lookupKey),
    ...where('name', 'eq', search.name),
  ]);

import type { Found, Projection, RequestContext } from '@counterfoil/engine/define';
import { expandParameter, where } from '@counterfoil/engine/define';
import { invalidField, notFound, type RecordStatus } from '@counterfoil/kernel';
import { foundById } from '../../record/index.ts';
import type { Entitlement } from '../entitlement/schema.ts';
import type { CreditGrant } from '../grant/schema.ts';
import { entitlementExpansion, groupedByOffer, ownedBy, priceExpansion } from '../owned.ts';
import type { Price } from '../price/schema.ts';
import { costsheetTable, creditGrantTable, entitlementTable, priceTable } from '../projection.ts';
import type { Costsheet } from './schema.ts';

/** The parts of an offer that are to be shown inside of it. */
interface Inside {
  readonly prices: boolean;
  readonly entitlements: boolean;
  readonly creditGrants: boolean;
}

export const everything: Inside = { prices: true, entitlements: true, creditGrants: true };
export const pricesOnly: Inside = { prices: true, entitlements: false, creditGrants: false };

interface Shown {
  readonly id: string;
  readonly status: RecordStatus;
}

/**
 * Offers with what they own, and all that is inside of that: one look-up of each kind for all of
 * them. They are of one status, which is also that of what belongs to them.
 */
export async function withOwned<Offer extends Shown>(
  context: RequestContext,
  offers: readonly Offer[],
  inside: Inside,
): Promise<Offer[]> {
  const status = offers[0]?.status ?? 'published';
  const ids = offers.map(({ id }) => id);
  const owned = <Row, Item extends { readonly status: RecordStatus }>(
    table: Projection<string, Row, Item, { readonly entity_id: 'text' }>,
    isAsked: boolean,
  ): Promise<Item[]> => ownedBy(context, table, isAsked ? ids : [], status);
  const pricesOf = async () =>
    byOffer(await priceExpansion.show(context, await owned(priceTable, inside.prices)));
  const entitlementsOf = async () =>
    byOffer(
      await entitlementExpansion.show(context, await owned(entitlementTable, inside.entitlements)),
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

/** The newest published costsheet with its prices in force or to come; none: 404 (D19). */
export async function activeCostsheet(context: RequestContext): Promise<Found<Costsheet>> {
  const newest = await context.read.first(costsheetTable, where('status', 'eq', 'published'));
  if (!newest) throw notFound('costsheet', 'published', 'status');
  const { id } = newest.resource;
  const { resource, revision } = await foundById(context, costsheetTable, 'costsheet', id);
  const [shown = resource] = await withOwned(context, [resource], pricesOnly);
  const prices = shown.prices?.filter(
    ({ start_date, end_date }) =>
      end_date === undefined || (end_date > context.now && end_date > start_date),
  );
  return { resource: { ...shown, ...(prices && { prices }) }, revision };
}

/** Plans of a page at most when they are shown with what they own. */
const expandedMaximum = 100;

/** The names in `expand` of offers, by the part that each shows: with it comes all that is inside of it. */
const namesOf: Readonly<Record<keyof Inside, readonly string[]>> = {
  prices: ['prices', 'meters', 'priceunit', 'groups'],
  entitlements: ['entitlements', 'features'],
  creditGrants: ['credit_grant', 'credit_grants'],
};

/** `expand` of plans and add-ons. */
export const expandOffer = expandParameter(Object.values(namesOf).flat());

/** `expand` of costsheets, which own nothing but prices. */
export const expandCostsheet = expandParameter(namesOf.prices);

/** The parts of offers that a list or search asks for by `expand`. Refuses too large a page of them. */
export function expandedParts(search: {
  readonly expand?: readonly string[];
  readonly limit?: number;
}): Inside {
  const { expand = [], limit = 0 } = search;
  if (expand.length > 0 && limit > expandedMaximum) {
    throw invalidField('/limit', `must be at most ${expandedMaximum} with expand`);
  }
  const isAsked = (part: keyof Inside) => namesOf[part].some((name) => expand.includes(name));
  return {
    prices: isAsked('prices'),
    entitlements: isAsked('entitlements'),
    creditGrants: isAsked('creditGrants'),
  };
}

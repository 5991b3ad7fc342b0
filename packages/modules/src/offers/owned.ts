import { type Projection, type RequestContext, where } from '@counterfoil/engine/define';
import { invalidOperation, notFound, type PriceId, type RecordStatus } from '@counterfoil/kernel';
import { featuresById } from '../features/index.ts';
import { groupRecords } from '../groups/index.ts';
import { meterRecords } from '../meters/index.ts';
import { priceUnitRecords } from '../pricing-units/index.ts';
import { resourcesById } from '../record/index.ts';
import type { Entitlement } from './entitlement/schema.ts';
import type { Price } from './price/schema.ts';
import { addonTable, entitlementTable, planTable, priceTable } from './projection.ts';

const pageRows = 1000;

/** Records inside the plans of one page at most. */
const embeddedMaximum = 20_000;

/** All rows of a table that some offers own, newest first. Throws 400 when they are too many. */
export async function ownedBy<Row, Resource extends { readonly status: RecordStatus }>(
  context: RequestContext,
  table: Projection<string, Row, Resource, { readonly entity_id: 'text' }>,
  offerIds: readonly string[],
  status: RecordStatus,
): Promise<Resource[]> {
  const rows: Resource[] = [];
  if (offerIds.length === 0) return rows;
  const own = where('entity_id', 'in', offerIds);
  for (let offset = 0; ; offset += pageRows) {
    const request = { limit: pageRows, offset, status: [status] };
    const { items, pagination } = await context.read.list(table, request, own);
    if (pagination.total > embeddedMaximum) throw tooMuchInside(pagination.total);
    rows.push(...items);
    if (items.length < pageRows) return rows;
  }
}

const tooMuchInside = (total: number) =>
  invalidOperation(`This would show ${total} records inside: ask for fewer at once.`, {
    reason: 'limit_reached',
    limit: embeddedMaximum,
  });

/** The choice of whether the owner is shown inside of what it owns. */
interface Inside {
  readonly owner: boolean;
}

/** Prices with their meters, groups and pricing units: one look-up of each kind for all of them. */
export async function withPriceParts(
  context: RequestContext,
  prices: readonly Price[],
  { owner }: Inside = { owner: false },
): Promise<Price[]> {
  const [meters, groups, units, owners] = await Promise.all([
    meterRecords.byIds(
      context,
      prices.map(({ meter_id }) => meter_id),
    ),
    groupRecords.byIds(
      context,
      prices.map(({ group_id }) => group_id),
    ),
    priceUnitRecords.byIds(
      context,
      prices.map(({ price_unit_id }) => price_unit_id),
    ),
    owner ? ownersOf(context, prices) : null,
  ]);
  return prices.map((price) => {
    const meter = meters.get(price.meter_id ?? '');
    const group = groups.get(price.group_id ?? '');
    const pricing_unit = units.get(price.price_unit_id ?? '');
    return {
      ...price,
      ...(meter && { meter }),
      ...(group && { group }),
      ...(pricing_unit && { pricing_unit }),
      ...owners?.(price),
    };
  });
}

/** Entitlements with their features and owners: one look-up of each kind for all of them. */
export async function withEntitlementParts(
  context: RequestContext,
  entitlements: readonly Entitlement[],
): Promise<Entitlement[]> {
  const [features, owners] = await Promise.all([
    featuresById(
      context,
      entitlements.map(({ feature_id }) => feature_id),
    ),
    ownersOf(context, entitlements),
  ]);
  return entitlements.map((entitlement) => {
    const feature = features.get(entitlement.feature_id);
    return { ...entitlement, ...(feature && { feature }), ...owners(entitlement) };
  });
}

/** Looks up the plans and add-ons that own some records; what it gives stands inside of them. */
export async function ownersOf(
  context: RequestContext,
  owned: readonly Pick<Price | Entitlement, 'entity_type' | 'entity_id'>[],
) {
  const idsOf = (type: string) =>
    owned.filter(({ entity_type }) => entity_type === type).map(({ entity_id }) => entity_id);
  const [plans, addons] = await Promise.all([
    resourcesById(context, planTable, idsOf('PLAN')),
    resourcesById(context, addonTable, idsOf('ADDON')),
  ]);
  return ({ entity_id }: Pick<Price, 'entity_id'>) => {
    const [plan, addon] = [plans.get(entity_id), addons.get(entity_id)];
    return { ...(plan && { plan }), ...(addon && { addon }) };
  };
}

/** The offer of a price that a path names, by the read model: an owner never changes. Throws 404. */
export async function ownerOfPrice(context: RequestContext, id: PriceId): Promise<string> {
  const found = await context.read.find(priceTable, id);
  if (!found) throw notFound('price', id);
  return found.resource.entity_id;
}

/** The offer of an entitlement that a path names. Throws 404. */
export async function ownerOfEntitlement(context: RequestContext, id: string): Promise<string> {
  const found = await context.read.find(entitlementTable, id);
  if (!found) throw notFound('entitlement', id);
  return found.resource.entity_id;
}

/** Items by the offer that owns them. */
export function groupedByOffer<Item>(
  items: readonly Item[],
  offerOf: (item: Item) => string,
): ReadonlyMap<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const id = offerOf(item);
    groups.set(id, [...(groups.get(id) ?? []), item]);
  }
  return groups;
}

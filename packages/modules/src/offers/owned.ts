import {
  expansion,
  inTable,
  type Projection,
  type RequestContext,
  where,
} from '@counterfoil/engine/define';
import { invalidOperation, notFound, type PriceId, type RecordStatus } from '@counterfoil/kernel';
import { featuresById } from '../features/index.ts';
import { groupRecords } from '../groups/index.ts';
import { meterRecords } from '../meters/index.ts';
import { priceUnitRecords } from '../pricing-units/index.ts';
import type { Entitlement } from './entitlement/schema.ts';
import type { Price } from './price/schema.ts';
import { addonTable, planTable, priceTable } from './projection.ts';

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

const idOf =
  (type: Price['entity_type']) =>
  ({ entity_type, entity_id }: Pick<Price | Entitlement, 'entity_type' | 'entity_id'>) =>
    entity_type === type ? entity_id : null;
const plan = { as: 'plan', id: idOf('PLAN'), find: inTable(planTable) } as const;
const addon = { as: 'addon', id: idOf('ADDON'), find: inTable(addonTable) } as const;

/** The records that prices show inside: meter, group and unit always, the owner when it is asked for. */
export const priceExpansion = expansion<Price>({
  meters: { as: 'meter', id: ({ meter_id }) => meter_id, find: meterRecords.byIds, always: true },
  groups: { as: 'group', id: ({ group_id }) => group_id, find: groupRecords.byIds, always: true },
  priceunit: {
    as: 'pricing_unit',
    id: ({ price_unit_id }) => price_unit_id,
    find: priceUnitRecords.byIds,
    always: true,
  },
  plan,
  addons: addon,
});

/** The names of the owners of prices in `expand`. */
export const owners = ['plan', 'addons'];

/** The records that entitlements show inside: feature and owner always, with the meter of the feature. */
export const entitlementExpansion = expansion<Entitlement>(
  {
    features: {
      as: 'feature',
      id: ({ feature_id }) => feature_id,
      find: featuresById,
      always: true,
    },
    plans: { ...plan, always: true },
    addons: { ...addon, always: true },
  },
  ['meters'],
);

/** The offer of a price that a path names, by the read model: an owner never changes. Throws 404. */
export async function ownerOfPrice(context: RequestContext, id: PriceId): Promise<string> {
  const found = await context.read.find(priceTable, id);
  if (!found) throw notFound('price', id);
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

import {
  type Page,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import { invalidField, notFound } from '@counterfoil/kernel';
import type { z } from 'zod';
import type { EntitlementTable, OfSubscriptions } from '../of-subscriptions.ts';
import { entitlementExpansion } from '../owned.ts';
import { entitlementTable } from '../projection.ts';
import type { Entitlement, entitlementSearchSchema } from './schema.ts';

type EntitlementSearch = Partial<z.output<typeof entitlementSearchSchema>>;

/** The entitlement with an id, of whatever owner, as its row has it. Throws 404. */
export async function foundEntitlement(
  context: RequestContext,
  of: OfSubscriptions,
  id: string,
): Promise<Entitlement> {
  const found =
    (await context.read.find(entitlementTable, id)) ??
    (await context.read.find(of.entitlements, id));
  if (!found) throw notFound('entitlement', id);
  return found.resource;
}

/** The entitlement with an id, with its feature and owner. Throws 404. */
export async function getEntitlement(
  context: RequestContext,
  of: OfSubscriptions,
  id: string,
): Promise<Entitlement> {
  const resource = await foundEntitlement(context, of, id);
  const [shown = resource] = await entitlementExpansion.show(context, [resource]);
  return shown;
}

const isOfSubscription = (id: string): boolean => id.startsWith('subs_');

/**
 * The table that a search is about: that of offers, or that of subscriptions where it names those.
 *
 * @throws a Problem for one that names both
 */
export function entitlementTableOf(
  of: OfSubscriptions,
  { entity_type, entity_ids = [] }: EntitlementSearch,
): EntitlementTable {
  const named = entity_ids.filter(isOfSubscription).length;
  if (named > 0 && named < entity_ids.length) {
    throw invalidField('/entity_ids', 'must not name subscriptions beside others: ask for each');
  }
  return entity_type === 'SUBSCRIPTION' || named > 0 ? of.entitlements : entitlementTable;
}

/** One page of the entitlements of a table, with features and owners. */
export async function searchEntitlements(
  context: RequestContext,
  table: EntitlementTable,
  search: EntitlementSearch,
): Promise<Page<Entitlement>> {
  const { items, pagination } = await context.read.list(table, pageRequest(table, search), [
    ...searchFilters(table, search),
    ...where('entity_id', 'in', search.entity_ids),
    ...where('entity_id', 'in', search.plan_ids),
    ...where('entity_type', 'eq', search.plan_ids ? 'PLAN' : undefined),
    ...where('entity_type', 'eq', search.entity_type),
    ...where('feature_id', 'in', search.feature_ids),
    ...where('feature_type', 'eq', search.feature_type),
    ...where('is_enabled', 'eq', search.is_enabled),
  ]);
  return { items: await entitlementExpansion.show(context, items), pagination };
}

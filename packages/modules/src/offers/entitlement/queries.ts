import {
  type Page,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import type { z } from 'zod';
import { foundById } from '../../record/index.ts';
import { entitlementExpansion } from '../owned.ts';
import { entitlementTable } from '../projection.ts';
import type { Entitlement, entitlementSearchSchema } from './schema.ts';

type EntitlementSearch = Partial<z.output<typeof entitlementSearchSchema>>;

/** The entitlement with an id, with its feature and owner. Throws 404. */
export async function getEntitlement(context: RequestContext, id: string): Promise<Entitlement> {
  const { resource } = await foundById(context, entitlementTable, 'entitlement', id);
  const [shown = resource] = await entitlementExpansion.show(context, [resource]);
  return shown;
}

/** One page of entitlements, with features and owners. */
export async function searchEntitlements(
  context: RequestContext,
  search: EntitlementSearch,
): Promise<Page<Entitlement>> {
  const { items, pagination } = await context.read.list(
    entitlementTable,
    pageRequest(entitlementTable, search),
    [
      ...searchFilters(entitlementTable, search),
      ...where('entity_id', 'in', search.entity_ids),
      ...where('entity_id', 'in', search.plan_ids),
      ...where('entity_type', 'eq', search.plan_ids ? 'PLAN' : undefined),
      ...where('entity_type', 'eq', search.entity_type),
      ...where('feature_id', 'in', search.feature_ids),
      ...where('feature_type', 'eq', search.feature_type),
      ...where('is_enabled', 'eq', search.is_enabled),
    ],
  );
  return { items: await entitlementExpansion.show(context, items), pagination };
}

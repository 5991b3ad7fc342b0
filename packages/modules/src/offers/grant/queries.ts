import {
  type Page,
  pageRequest,
  type RequestContext,
  type Search,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import { notFound } from '@counterfoil/kernel';
import type { z } from 'zod';
import type { CreditGrantTable, OfSubscriptions } from '../of-subscriptions.ts';
import { creditGrantTable } from '../projection.ts';
import type { CreditGrant, creditGrantListSchema } from './schema.ts';

interface CreditGrantSearch
  extends Partial<z.output<typeof creditGrantListSchema>>,
    Partial<Omit<Search, 'expand'>> {
  /** Plans and add-ons alike. */
  readonly offer_ids?: readonly string[];
}

/** The credit grant with an id, stopped ones included. Throws 404. */
export async function getCreditGrant(
  context: RequestContext,
  of: OfSubscriptions,
  id: string,
): Promise<CreditGrant> {
  const found =
    (await context.read.find(creditGrantTable, id)) ?? (await context.read.find(of.grants, id));
  if (!found) throw notFound('credit grant', id);
  return found.resource;
}

/** The table that a search is about: that of offers, or that of subscriptions where it asks for those. */
export const creditGrantTableOf = (
  of: OfSubscriptions,
  { scope, subscription_ids }: CreditGrantSearch,
): CreditGrantTable =>
  scope === 'SUBSCRIPTION' || (subscription_ids?.length ?? 0) > 0 ? of.grants : creditGrantTable;

/** One page of the credit grants of a table. */
export const searchCreditGrants = (
  context: RequestContext,
  table: CreditGrantTable,
  search: CreditGrantSearch,
): Promise<Page<CreditGrant>> =>
  context.read.list(table, pageRequest(table, search), [
    ...searchFilters(table, search),
    ...where('entity_id', 'in', search.offer_ids),
    ...where('entity_id', 'in', search.plan_ids),
    ...where('entity_id', 'in', search.subscription_ids),
    ...where('scope', 'eq', search.scope),
  ]);

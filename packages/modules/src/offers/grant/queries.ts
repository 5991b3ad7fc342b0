import {
  type Page,
  pageRequest,
  type RequestContext,
  type Search,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import type { z } from 'zod';
import { foundById } from '../../record/index.ts';
import { creditGrantTable } from '../projection.ts';
import type { CreditGrant, creditGrantListSchema } from './schema.ts';

interface CreditGrantSearch
  extends Partial<z.output<typeof creditGrantListSchema>>,
    Partial<Omit<Search, 'expand'>> {
  /** Plans and add-ons alike. */
  readonly offer_ids?: readonly string[];
}

/** The credit grant with an id, stopped ones included. Throws 404. */
export const getCreditGrant = (context: RequestContext, id: string) =>
  foundById(context, creditGrantTable, 'credit grant', id);

/** One page of credit grants. There are no grants of subscriptions yet. */
export const searchCreditGrants = (
  context: RequestContext,
  search: CreditGrantSearch,
): Promise<Page<CreditGrant>> =>
  context.read.list(creditGrantTable, pageRequest(creditGrantTable, search), [
    ...searchFilters(creditGrantTable, search),
    ...where('entity_id', 'in', search.offer_ids),
    ...where('entity_id', 'in', search.plan_ids),
    ...where('entity_id', 'in', search.subscription_ids),
    ...where('scope', 'eq', search.scope),
  ]);

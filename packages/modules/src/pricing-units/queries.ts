import {
  type Found,
  type Page,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import { notFound } from '@counterfoil/kernel';
import type { z } from 'zod';
import { foundById, resourcesById } from '../references.ts';
import { comparedCode } from './price-unit.ts';
import { priceUnitTable } from './projection.ts';
import type { PriceUnit, priceUnitSearchSchema } from './schema.ts';

type PriceUnitSearch = Partial<z.output<typeof priceUnitSearchSchema>>;

/** The pricing unit with an id, archived ones included. 404 when there is none. */
export const getPriceUnit = (context: RequestContext, id: string) =>
  foundById(context, priceUnitTable, 'pricing unit', id);

/** The pricing unit that has a code now; archived ones have given theirs back. */
export async function getPriceUnitByCode(
  context: RequestContext,
  code: string,
): Promise<Found<PriceUnit>> {
  const found = await context.read.first(priceUnitTable, [
    ...where('code', 'eq', comparedCode(code)),
    ...where('status', 'eq', 'published'),
  ]);
  if (!found) throw notFound('pricing unit', code, 'code');
  return found;
}

/** Pricing units by id, archived ones included, for what shows them inside. */
export const priceUnitsById = (context: RequestContext, ids: readonly (string | undefined)[]) =>
  resourcesById(context, priceUnitTable, ids);

/** One page of pricing units. */
export const searchPriceUnits = (
  context: RequestContext,
  search: PriceUnitSearch,
): Promise<Page<PriceUnit>> =>
  context.read.list(priceUnitTable, pageRequest(priceUnitTable, search), [
    ...searchFilters(priceUnitTable, search),
    ...where('id', 'in', search.price_unit_ids),
  ]);

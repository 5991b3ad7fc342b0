import {
  type FilterOf,
  type Found,
  type Page,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import { notFound } from '@counterfoil/kernel';
import type { z } from 'zod';
import { foundById } from '../../record/index.ts';
import { owners, priceExpansion } from '../owned.ts';
import { priceTable } from '../projection.ts';
import type { Price, priceSearchSchema } from './schema.ts';

type PriceSearch = Partial<z.output<typeof priceSearchSchema>> & {
  readonly expand?: readonly string[] | undefined;
};

/** The price with an id, with its meter, group and unit; ended ones included. Throws 404. */
export async function getPrice(context: RequestContext, id: string): Promise<Price> {
  const { resource } = await foundById(context, priceTable, 'price', id);
  return withParts(context, resource);
}

/** The price with a lookup_key that is in force now; when none is, the one that was made last. */
export async function getPriceByLookupKey(context: RequestContext, key: string): Promise<Price> {
  const named = [...where('lookup_key', 'eq', key), ...where('status', 'eq', 'published')];
  const first = (filters: readonly FilterOf<typeof priceTable>[]): Promise<Found<Price> | null> =>
    context.read.first(priceTable, filters);
  const inForce = [
    ...where('start_date', 'lte', context.now),
    ...where('end_date', 'gt', context.now),
  ];
  const found = (await first([...named, ...inForce])) ?? (await first(named));
  if (!found) throw notFound('price', key, 'lookup_key');
  return withParts(context, found.resource);
}

async function withParts(context: RequestContext, price: Price): Promise<Price> {
  const [shown] = await priceExpansion.show(context, [price], owners);
  return shown ?? price;
}

/** One page of prices; those whose time is over only when they are asked for. */
export async function searchPrices(
  context: RequestContext,
  search: PriceSearch,
): Promise<Page<Price>> {
  const { items, pagination } = await context.read.list(
    priceTable,
    pageRequest(priceTable, search),
    [...searchFilters(priceTable, search), ...priceFilters(context, search)],
  );
  return { items: await priceExpansion.show(context, items, search.expand), pagination };
}

const priceFilters = (
  context: RequestContext,
  search: PriceSearch,
): FilterOf<typeof priceTable>[] => [
  ...where('id', 'in', search.price_ids),
  ...where('entity_id', 'in', search.entity_ids),
  ...where('entity_id', 'in', search.plan_ids),
  ...where('entity_id', 'eq', search.subscription_id),
  ...where('entity_type', 'eq', search.plan_ids ? 'PLAN' : undefined),
  ...where('entity_type', 'eq', search.entity_type),
  ...where('meter_id', 'in', search.meter_ids),
  ...where('billing_period', 'in', search.billing_periods),
  ...where('parent_price_id', 'eq', search.parent_price_id),
  ...where('start_date', 'lt', search.start_date_lt),
  ...where('end_date', 'gt', search.allow_expired_prices ? undefined : context.now),
];

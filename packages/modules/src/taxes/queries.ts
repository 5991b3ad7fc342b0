import {
  type Found,
  type Page,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import type { z } from 'zod';
import { customer } from '../customers/index.ts';
import { foundById, resourcesById } from '../references.ts';
import { countOf, type Use } from '../uses.ts';
import type { Association, associationListSchema } from './association-schema.ts';
import { taxAssociationTable, taxRateTable } from './projection.ts';
import type { TaxRate, taxRateListSchema } from './rate-schema.ts';
import { comparedCode } from './tax-rate.ts';

/** The tax rate with an id, archived ones included. 404 when there is none. */
export const getTaxRate = (context: RequestContext, id: string) =>
  foundById(context, taxRateTable, 'tax rate', id);

/** One page of tax rates. */
export const listTaxRates = (
  context: RequestContext,
  query: z.output<typeof taxRateListSchema>,
): Promise<Page<TaxRate>> =>
  context.read.list(taxRateTable, pageRequest(taxRateTable, query), [
    ...searchFilters(taxRateTable, query),
    ...where('id', 'in', query.taxrate_ids),
    ...where('code', 'in', query.taxrate_codes?.map(comparedCode)),
    ...where('scope', 'eq', query.scope),
  ]);

/** Returns how many published associations have a rate, in words; null for none. */
export const associationsOfRate: Use<'taxrate'> = async (context, rateId) => {
  const page = { limit: 1, offset: 0 };
  const associated = where('tax_rate_id', 'eq', rateId);
  const { pagination } = await context.read.list(taxAssociationTable, page, associated);
  return countOf(pagination.total, 'association');
};

/** Associations with their rates: one look-up for all. */
async function withRates(
  context: RequestContext,
  associations: readonly Association[],
): Promise<Association[]> {
  const ids = associations.map(({ tax_rate_id }) => tax_rate_id);
  const rates = await resourcesById(context, taxRateTable, ids);
  return associations.map((shown) => {
    const tax_rate = rates.get(shown.tax_rate_id);
    return { ...shown, ...(tax_rate && { tax_rate }) };
  });
}

/** The association with an id, with its rate. 404 when there is none. */
export async function getAssociation(
  context: RequestContext,
  id: string,
): Promise<Found<Association>> {
  const { resource, revision } = await foundById(
    context,
    taxAssociationTable,
    'tax association',
    id,
  );
  const [shown = resource] = await withRates(context, [resource]);
  return { resource: shown, revision };
}

/** One page of associations, with their rates. An unknown external_customer_id finds none. */
export async function listAssociations(
  context: RequestContext,
  query: z.output<typeof associationListSchema>,
): Promise<Page<Association>> {
  const { external_customer_id: externalId } = query;
  const customerId =
    externalId === undefined
      ? undefined
      : ((await context.holderOf(customer, 'external_id', externalId)) ?? '');
  const page = await context.read.list(
    taxAssociationTable,
    pageRequest(taxAssociationTable, query),
    [
      ...searchFilters(taxAssociationTable, query),
      ...where('entity_type', 'eq', query.entity_type),
      ...where('entity_id', 'eq', query.entity_id),
      ...where('entity_id', 'eq', customerId),
      ...where('tax_rate_id', 'eq', query.tax_rate_id),
    ],
  );
  return { ...page, items: await withRates(context, page.items) };
}

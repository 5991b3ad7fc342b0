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
import { customerTable } from './projection.ts';
import type { Customer, customerSearchSchema } from './schema.ts';

type CustomerSearch = Partial<z.output<typeof customerSearchSchema>>;

/** The customer with an id, archived ones included. 404 when there is none. */
export async function getCustomer(context: RequestContext, id: string): Promise<Found<Customer>> {
  const found = await context.read.find(customerTable, id);
  if (!found) throw notFound('customer', id);
  return found;
}

/** The customer that has an external_id now; archived ones have given theirs back. */
export async function getCustomerByExternalId(
  context: RequestContext,
  externalId: string,
): Promise<Found<Customer>> {
  const found = await context.read.first(customerTable, [
    ...where('external_id', 'eq', externalId),
    ...where('status', 'eq', 'published'),
  ]);
  if (!found) throw notFound('customer', externalId, 'external_id');
  return found;
}

/** One page of customers. */
export const searchCustomers = (
  context: RequestContext,
  search: CustomerSearch,
): Promise<Page<Customer>> =>
  context.read.list(customerTable, pageRequest(customerTable, search), [
    ...searchFilters(customerTable, search),
    ...where('id', 'in', search.customer_ids),
    ...where('external_id', 'in', search.external_ids),
    ...where('external_id', 'eq', search.external_id),
    ...where('email', 'eq', search.email),
    ...where('metadata', 'metadata', search.metadata),
  ]);

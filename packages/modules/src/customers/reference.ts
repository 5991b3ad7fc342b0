import type { Records } from '@counterfoil/engine/define';
import { type CustomerId, invalidField, notFound } from '@counterfoil/kernel';
import { type CustomerRecord, customer } from './customer.ts';

/** A customer as a request names it: by our id, by the caller's own, or by both. */
export interface CustomerReference {
  readonly customer_id?: string | undefined;
  readonly external_customer_id?: string | undefined;
}

/** The names of the two ids in a request. */
export interface ReferenceFields {
  readonly id: string;
  readonly externalId: string;
}

const usualFields: ReferenceFields = { id: 'customer_id', externalId: 'external_customer_id' };

/** The id of the customer with an external id; null when none has it. */
export const customerWith = (records: Records, externalId: string): Promise<CustomerId | null> =>
  records.holderOf(customer, 'external_id', externalId) as Promise<CustomerId | null>;

/** The ids of the customers with an external id, for a filter: one, or none when nobody has it; undefined where none is asked for. */
export async function customersWith(
  records: Records,
  externalId: string | undefined,
): Promise<CustomerId[] | undefined> {
  if (externalId === undefined) return undefined;
  const id = await customerWith(records, externalId);
  return id === null ? [] : [id];
}

/**
 * The id that a reference means, as current as the records are. An unknown external id is 404;
 * neither id, or two ids of different customers, is 400, with the names that the request has
 * for them. Whether a customer with that id exists is not looked at.
 */
export async function customerIdOf(
  records: Records,
  reference: CustomerReference,
  fields: ReferenceFields = usualFields,
): Promise<CustomerId> {
  const { customer_id, external_customer_id } = reference;
  if (external_customer_id === undefined) {
    if (customer_id !== undefined) return customer_id as CustomerId;
    throw invalidField(`/${fields.id}`, `${fields.id} or ${fields.externalId} is required`);
  }
  const holder = await customerWith(records, external_customer_id);
  if (holder === null) throw notFound('customer', external_customer_id, fields.externalId);
  if (customer_id !== undefined && customer_id !== holder) {
    throw invalidField(`/${fields.externalId}`, `names another customer than ${fields.id}`);
  }
  return holder;
}

/**
 * The customer that a request names, archived ones included, as current as the records are: a request's own are never
 * behind, its recalled ones at most a moment. Unknown: 404 naming the field. Pass the result to `writable` where the customer must be in use.
 */
export async function customerReference(
  records: Records,
  reference: CustomerReference,
  fields: ReferenceFields = usualFields,
): Promise<CustomerRecord> {
  const id = await customerIdOf(records, reference, fields);
  const record = await records.load(customer, id);
  if (!record) throw notFound('customer', id, fields.id);
  return record;
}

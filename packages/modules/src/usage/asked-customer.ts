import type { Records } from '@counterfoil/engine/define';
import { type CustomerReference, customerReference, customerWith } from '../customers/index.ts';
import type { UsageOf } from './queries.ts';

/** The customer that a question is about, and the zone that it has. */
export async function askedCustomer(
  records: Records,
  { customer_id, external_customer_id }: CustomerReference,
): Promise<{ readonly customer: UsageOf['customer']; readonly zone: string }> {
  if (customer_id === undefined && external_customer_id === undefined) {
    return { customer: { kind: 'all' }, zone: 'UTC' };
  }
  if (customer_id === undefined && external_customer_id !== undefined) {
    const holder = await customerWith(records, external_customer_id);
    if (holder === null)
      return { customer: { kind: 'external', id: external_customer_id }, zone: 'UTC' };
  }
  const { id, timezone } = await customerReference(records, { customer_id, external_customer_id });
  return { customer: { kind: 'customer', id }, zone: timezone };
}

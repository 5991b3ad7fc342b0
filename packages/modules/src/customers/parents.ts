import { type RequestContext, where } from '@counterfoil/engine/define';
import {
  type CustomerId,
  invalidField,
  invalidOperation,
  type RecordStatus,
  writable,
} from '@counterfoil/kernel';
import { customerRecords } from './customer.ts';
import { customerReference } from './reference.ts';

/** The most children of a customer that one question counts. */
export const childrenMaximum = 1_000;

/** A parent as a request names it: by our id, by the caller's own, or by both; null or neither of them: none. */
interface AskedParent {
  readonly parent_customer_id?: string | null | undefined;
  readonly parent_customer_external_id?: string | null | undefined;
}

/**
 * The parent that a request gives a customer; null where it takes it away, undefined where it says nothing. An unknown
 * one is 404, one out of use 400. There is one level: a child has no children, and a customer with children no parent.
 * Two requests at once may make more of it, which is never looked at: children are those of the first level alone.
 */
export async function parentOf(
  context: RequestContext,
  id: CustomerId,
  { parent_customer_id, parent_customer_external_id }: AskedParent,
): Promise<CustomerId | null | undefined> {
  if (!parent_customer_id && !parent_customer_external_id) {
    return parent_customer_id === null || parent_customer_external_id === null ? null : undefined;
  }
  const found = await customerReference(
    context,
    {
      customer_id: parent_customer_id ?? undefined,
      external_customer_id: parent_customer_external_id ?? undefined,
    },
    { id: 'parent_customer_id', externalId: 'parent_customer_external_id' },
  );
  const parent = writable(found, 'customer', found.id);
  if (parent.id === id) throw invalidField('/parent_customer_id', 'must be another customer');
  if (parent.parent_customer_id !== null) {
    throw invalidOperation(
      `The customer ${parent.id} is a child of ${parent.parent_customer_id}, and can have none itself.`,
      { reason: 'unsuitable' },
    );
  }
  if ((await childrenOf(context, id, { limit: 1, status: ['published'] })).length > 0) {
    throw invalidOperation(`The customer ${id} has children, and can be none itself.`, {
      reason: 'unsuitable',
    });
  }
  return parent.id;
}

/** The children that a customer has, as far as the tables are, by their ids. */
export async function childrenOf(
  { read }: Pick<RequestContext, 'read'>,
  id: CustomerId,
  { limit, status }: { readonly limit: number; readonly status: readonly RecordStatus[] },
): Promise<readonly CustomerId[]> {
  const page = { limit, offset: 0, status, sort: [{ column: 'id', order: 'asc' }] } as const;
  const { items } = await read.list(customerRecords.table, page, [
    ...where('parent_customer_id', 'eq', id),
  ]);
  return items.map((child) => child.id as CustomerId);
}

import { type RequestContext, where } from '@counterfoil/engine/define';
import { invalidField } from '@counterfoil/kernel';
import { type CustomerRecord, customer, customerRecords } from '../customers/index.ts';
import { askedCustomer } from '../usage/index.ts';
import type { User } from './costs.ts';
import type { CostAnalyticsQuestion } from './schema.ts';

/** A customer of an answer, with those who count with it. */
export interface Asked extends User {
  readonly customer: { readonly id: string; readonly external_id: string };
}

/**
 * The customers that are asked for: the one that is named, together with its children if they are asked for too, as if they were one; else a page of all,
 * each by itself. Throws 400 for children of nobody, and for too many.
 */
export async function customersOf(
  context: RequestContext,
  { customer_id, external_customer_id, include_children, limit, offset }: CostAnalyticsQuestion,
) {
  if (customer_id !== undefined || external_customer_id !== undefined) {
    const found = await customerNamed(context, customer_id, external_customer_id);
    const items =
      found && offset === 0 ? [await withChildren(context, found, include_children)] : [];
    return { items, pagination: { limit, offset, total: found === null ? 0 : 1 } };
  }
  if (include_children) {
    const needs =
      'customer_id or external_customer_id: all customers come one by one, children too';
    throw invalidField('/include_children', `needs ${needs}`);
  }
  const page = { limit, offset };
  const inUse = where('status', 'eq', 'published');
  const { items, pagination } = await context.read.list(customerRecords.table, page, inUse);
  return { items: items.map(alone), pagination };
}

type Known = Asked['customer'] & Pick<User, 'timezone'>;

const alone = ({ id, external_id, timezone }: Known): Asked => ({
  ...{ customer: { id, external_id }, ids: [id], timezone },
});

/** The customer who has the ids that are given; null where nobody has. */
async function customerNamed(
  context: RequestContext,
  customerId: string | undefined,
  externalId: string | undefined,
): Promise<CustomerRecord | null> {
  const id = customerId ?? (await context.holderOf(customer, 'external_id', externalId ?? ''));
  const found = id === null ? null : await context.load(customer, id);
  const isNamed = externalId === undefined || found?.external_id === externalId;
  return isNamed ? found : null;
}

async function withChildren(
  context: RequestContext,
  found: CustomerRecord,
  include_children = false,
): Promise<Asked> {
  const { customer: of } = await askedCustomer(context, {
    customer_id: found.id,
    include_children,
  });
  return of.kind === 'customers' ? { ...alone(found), ids: of.ids } : alone(found);
}

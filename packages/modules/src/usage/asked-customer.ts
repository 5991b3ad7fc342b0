import type { RequestContext } from '@counterfoil/engine/define';
import { invalidOperation } from '@counterfoil/kernel';
import {
  type CustomerReference,
  childrenMaximum,
  childrenOf,
  customerReference,
  customerWith,
} from '../customers/index.ts';
import type { UsageOf } from './usage-of.ts';

/** The customer that a request is about. */
export interface AskedCustomer extends CustomerReference {
  /** True: with the customers whose parent it is, as if they were one. */
  readonly include_children?: boolean | undefined;
}

/** The customer that a question is about, and the zone that it has. */
export async function askedCustomer(
  context: Pick<RequestContext, 'read' | 'recalled'>,
  { customer_id, external_customer_id, include_children = false }: AskedCustomer,
): Promise<{ readonly customer: UsageOf['customer']; readonly zone: string }> {
  const { recalled } = context;
  if (customer_id === undefined && external_customer_id === undefined) {
    return { customer: { kind: 'all' }, zone: 'UTC' };
  }
  if (customer_id === undefined && external_customer_id !== undefined) {
    const holder = await customerWith(recalled, external_customer_id);
    if (holder === null)
      return { customer: { kind: 'external', id: external_customer_id }, zone: 'UTC' };
  }
  const { id, timezone } = await customerReference(recalled, { customer_id, external_customer_id });
  if (!include_children) return { customer: { kind: 'customer', id }, zone: timezone };
  // One that is archived has used what it has used.
  const status = ['published', 'archived'] as const;
  const children = await childrenOf(context, id, { limit: childrenMaximum + 1, status });
  if (children.length > childrenMaximum) {
    throw invalidOperation(
      `The customer has more than ${childrenMaximum} children. Ask for them one by one.`,
      { reason: 'limit_reached', limit: childrenMaximum },
    );
  }
  return { customer: { kind: 'customers', ids: [id, ...children] }, zone: timezone };
}

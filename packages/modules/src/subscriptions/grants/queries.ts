import { type Page, type RequestContext, where } from '@counterfoil/engine/define';
import { grantApplicationTable } from './projection.ts';
import type { GrantApplication } from './schema.ts';

/** The owner of grants of credits. */
type Owner = { readonly customer_id: string } | { readonly subscription_id: string };

/** One page of the grants of credits that are to come, the next one first (specification §4.10). */
export const upcomingGrants = (
  context: RequestContext,
  owner: Owner,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<Page<GrantApplication>> =>
  context.read.list(
    grantApplicationTable,
    { limit, offset, sort: [{ column: 'scheduled_for', order: 'asc' }] },
    [
      ...where('customer_id', 'eq', 'customer_id' in owner ? owner.customer_id : undefined),
      ...where(
        'subscription_id',
        'eq',
        'subscription_id' in owner ? owner.subscription_id : undefined,
      ),
      ...where('application_status', 'eq', 'pending'),
      ...where('is_live', 'eq', true),
      ...where('scheduled_for', 'gt', context.now),
    ],
  );

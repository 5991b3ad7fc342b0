import { type RequestContext, where } from '@counterfoil/engine/define';
import { type BroughtAssociation, taxAssociationRecords } from '../../taxes/index.ts';

/** Tax rates that are looked at of one subscription. */
const maximum = 100;

/**
 * The tax rates of a subscription, for the one that follows on it. One that applies for a time only is left out: it stays with
 * what it was agreed for.
 */
export async function taxesTakenAlong(
  context: RequestContext,
  { id, currency: usual }: { readonly id: string; readonly currency: string },
): Promise<readonly BroughtAssociation[]> {
  const page = { limit: maximum, offset: 0, sort: [{ column: 'id', order: 'asc' }] } as const;
  const { items } = await context.read.list(taxAssociationRecords.table, page, [
    ...where('entity_id', 'eq', id),
    ...where('entity_type', 'eq', 'subscription'),
  ]);
  return items
    .filter(({ start_date, end_date }) => start_date === undefined && end_date === undefined)
    .map(({ tax_rate_id, currency, priority, auto_apply, metadata }) => ({
      id: context.newId('ta'),
      tax_rate_id,
      currency: currency ?? usual,
      priority,
      auto_apply,
      metadata,
    }));
}

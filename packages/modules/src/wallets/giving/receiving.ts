import { type RequestContext, where } from '@counterfoil/engine/define';
import { type Currency, type CustomerId, invalidOperation } from '@counterfoil/kernel';
import { customer } from '../../customers/index.ts';
import { walletTable } from '../projection.ts';

/**
 * Refuses to give money to an archived customer who has no wallet: who has the choice had better pay it back. What is owed all the
 * same, because the customer was archived after this was asked, gets a wallet (`giveCredits`). Throws 400.
 */
export async function assertReceives(
  context: Pick<RequestContext, 'load' | 'read'>,
  { customer_id, currency }: { readonly customer_id: CustomerId; readonly currency: Currency },
): Promise<void> {
  const state = await context.load(customer, customer_id);
  if (state?.status !== 'archived') return;
  const { items } = await context.read.list(walletTable, { limit: 1, offset: 0 }, [
    ...where('customer_id', 'eq', customer_id),
    ...where('currency', 'eq', currency),
    ...where('wallet_type', 'eq', 'PRE_PAID'),
    ...where('wallet_status', 'in', ['active', 'frozen']),
  ]);
  if (items.length > 0) return;
  throw invalidOperation(
    `Customer ${customer_id} is archived and has no wallet that could take the money. Pay it back by other ways, and tell it by PUT /payments/{id}.`,
    { reason: 'archived', customer_id },
  );
}

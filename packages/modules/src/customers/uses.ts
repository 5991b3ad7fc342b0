import type { RequestContext } from '@counterfoil/engine/define';
import { type CustomerId, invalidOperation } from '@counterfoil/kernel';

/**
 * What still hangs on a customer, such as "2 active wallets"; null for nothing. Slices above this
 * one answer it, because this one does not know them.
 */
export type CustomerUse = (
  context: RequestContext,
  customerId: CustomerId,
) => Promise<string | null>;

/** Throws 400 `invalid_operation` when anything still hangs on the customer. */
export async function refuseWhileInUse(
  context: RequestContext,
  id: CustomerId,
  uses: readonly CustomerUse[],
): Promise<void> {
  for (const useOf of uses) {
    const use = await useOf(context, id);
    if (use) throw invalidOperation(`The customer ${id} still has ${use}. Close that first.`);
  }
}

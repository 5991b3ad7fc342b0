import { invalidOperation } from '@counterfoil/kernel';
import type { Subscription } from '../subscription.ts';

/** Lets a tax rate apply to a subscription, unless it has ended or is inherited: then nothing is invoiced for it. */
export function assertTaxable(
  { id, subscription_status: status, family }: Subscription,
  field?: string,
): void {
  const reason =
    status === 'cancelled' ? 'ended' : family.parent?.relation === 'inherited' ? 'inherited' : null;
  if (reason === null) return;
  throw invalidOperation(`Nothing is invoiced for subscription ${id}: no tax applies to it.`, {
    reason,
    ...(field !== undefined && { field }),
  });
}

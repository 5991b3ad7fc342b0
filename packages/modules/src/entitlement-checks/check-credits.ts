import type { RequestContext } from '@counterfoil/engine/define';
import { decimal, notFound, Problem } from '@counterfoil/kernel';
import { customerIdOf } from '../customers/index.ts';
import { spendableWallet, type Wallet, wallet, walletTable } from '../wallets/index.ts';
import { plainAnswer } from './answer.ts';
import type { CheckReason, EntitlementCheck, EntitlementQuestion } from './schema.ts';

/**
 * Tells whether a wallet of a customer has so many credits that can be spent now, as the log has it. 404 for a wallet that
 * is not the customer's.
 */
export async function checkCredits(
  context: RequestContext,
  question: EntitlementQuestion,
): Promise<EntitlementCheck> {
  if (!context.principal.allows('wallet:read')) {
    throw new Problem('permission_denied', 'This needs the permission wallet:read.');
  }
  const { wallet_id: id = '', credits = '1' } = question;
  const customerId = await customerIdOf(context.recalled, question);
  const position = await lastPosition(context, id);
  const { wallet: balance, spendable: remaining } = await spendableWallet(context, id);
  if (position === null || balance.customer_id !== customerId) {
    throw notFound('wallet', id, 'wallet_id');
  }
  const reason = reasonOf(balance, decimal(credits).lte(decimal(remaining)));
  const allowed = reason === 'enough_credits' || reason === 'post_paid';
  return plainAnswer(allowed, reason, { remaining, position });
}

function reasonOf(
  { wallet_status, wallet_type }: Pick<Wallet, 'wallet_status' | 'wallet_type'>,
  isThere: boolean,
): CheckReason {
  if (wallet_status !== 'active') return 'wallet_not_active';
  if (isThere) return 'enough_credits';
  return wallet_type === 'POST_PAID' ? 'post_paid' : 'insufficient_credits';
}

/** The position of the last event of a wallet that the tables show; null where there is no such wallet. */
async function lastPosition(context: RequestContext, id: string): Promise<string | null> {
  const shown = await context.read.find(walletTable, id);
  const range = { from: shown?.revision ?? 0, maximum: 1 };
  for await (const { position } of context.history(wallet, id, range)) return position;
  return null;
}

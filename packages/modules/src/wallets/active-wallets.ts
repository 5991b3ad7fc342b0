import { type AskingContext, where } from '@counterfoil/engine/define';
import { walletTable } from './projection.ts';
import { type Wallet, wallet } from './wallet.ts';

/** Wallets of one customer, currency and type that are looked at; what is in others is left. */
const walletsMaximum = 50;

/** The wallets that are looked for. */
type ActiveOf = Pick<Wallet, 'customer_id' | 'currency' | 'wallet_type'>;

/** The active wallets of a customer in a currency, of one type, as the log has them, in no order. */
export async function activeWallets(
  context: Pick<AskingContext, 'read' | 'load'>,
  { customer_id, currency, wallet_type }: ActiveOf,
): Promise<readonly Wallet[]> {
  const active = [
    ...where('customer_id', 'eq', customer_id),
    ...where('currency', 'eq', currency),
    ...where('wallet_type', 'eq', wallet_type),
    ...where('wallet_status', 'eq', 'active'),
  ];
  const ids = await context.read.ids(walletTable, active, walletsMaximum);
  const states = await Promise.all(ids.map((id) => context.load(wallet, id)));
  return states.flatMap((state) => state ?? []);
}

import type { Wallet } from '../wallet.ts';

const nullsLast = (a: number | null, b: number | null): number => {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return a - b;
};

const typeOrder = { PRE_PAID: 0, POST_PAID: 1 } as const;

type Ranked = Pick<Wallet, 'priority' | 'wallet_type' | 'created_at' | 'id'>;

const textOrder = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/**
 * The order in which wallets of one customer are drawn: priority, none last; then PRE_PAID before POST_PAID, so
 * that nobody owes while there are credits; then the oldest first (D21). Total.
 */
export const inWalletOrder = (a: Ranked, b: Ranked): number =>
  nullsLast(a.priority, b.priority) ||
  typeOrder[a.wallet_type] - typeOrder[b.wallet_type] ||
  textOrder(a.created_at, b.created_at) ||
  textOrder(a.id, b.id);

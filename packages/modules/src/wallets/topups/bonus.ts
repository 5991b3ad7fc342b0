import {
  type DecimalText,
  decimal,
  derivedId,
  divide,
  type Instant,
  shiftedBy,
  type TransactionId,
  textOf,
  zero,
} from '@counterfoil/kernel';
import type { SettingValue } from '../../settings/index.ts';
import type { PurchaseBonus, WalletEvent } from '../events.ts';
import { type Load, loadEvent } from '../ledger/entries.ts';
import type { Wallet } from '../wallet.ts';

/** The bonuses that purchases of credits bring, by how many are bought. */
export type BonusSlabs = SettingValue<'bonus_credits_topup_config'>['slabs'];

const creditPlaces = 9;
const hundred = decimal('100');

/**
 * The bonus for credits that are bought: that of the highest threshold which they reach, an amount of credits or a percentage of them, half to even at nine
 * digits (E 18.4). Null where they reach none, or it comes to nothing.
 */
export function bonusFor(slabs: BonusSlabs, bought: DecimalText): PurchaseBonus | null {
  const credits = decimal(bought);
  const [slab] = slabs
    .filter(({ threshold }) => credits.cmp(decimal(threshold)) >= 0)
    .toSorted((one, other) => decimal(other.threshold).cmp(decimal(one.threshold)));
  if (!slab) return null;
  const value = decimal(slab.value);
  const bonus = slab.type === 'flat' ? value : divide(credits.times(value), hundred, creditPlaces);
  return bonus.eq(zero) ? null : { credits: textOf(bonus), expiry_days: slab.expiry_days };
}

const dayMilliseconds = 86_400_000;

/** The members of a purchase that its bonus has too. */
export type BoughtCredits = Pick<
  Load,
  'referenceType' | 'referenceId' | 'idempotencyKey' | 'priority'
> & {
  readonly transactionId: TransactionId;
};

/** The load of a bonus: free credits in a lot of their own, which names the purchase and expires by the days of its slab. */
export function bonusEvents(
  wallet: Wallet,
  { transactionId, ...purchase }: BoughtCredits,
  bonus: PurchaseBonus,
  at: Instant,
): readonly WalletEvent[] {
  const { credits, expiry_days } = bonus;
  const load = loadEvent(
    wallet,
    {
      ...purchase,
      reason: 'FREE_CREDIT_GRANT',
      description: null,
      // That of the purchase may have as many members as there can be.
      metadata: { bonus_of: transactionId },
      quantity: { credits },
      expiresAt: expiry_days === null ? null : shiftedBy(at, expiry_days * dayMilliseconds),
    },
    at,
  );
  return [{ ...load, data: { ...load.data, transaction_id: bonusIdOf(transactionId) } }];
}

/** The id of the bonus of a purchase, which follows from it: its invoice finds it again. */
export const bonusIdOf = (purchaseId: string): TransactionId =>
  derivedId('wtxn', `bonus ${purchaseId}`);

import type { RecordStatus } from '@counterfoil/kernel';
import { invariant, withoutNulls } from '@counterfoil/kernel';
import { heldCredits } from './holds/holds.ts';
import type { WalletResource } from './schema.ts';
import { alertSettingsView, autoTopupView } from './settings.ts';
import type { AutomaticState } from './topups/topups.ts';
import { balanceOf, breakdownOf, type Wallet, type WalletState } from './wallet.ts';

/** A wallet is never deleted: a closed one stays readable. */
const status: RecordStatus = 'published';

/** The wallet as the API, the read model and the webhooks show it. Throws when there is none. */
export function walletView(wallet: WalletState): WalletResource {
  invariant(wallet, 'there is no wallet to show');
  const {
    lots: _lots,
    holds,
    transactions: _transactions,
    topups,
    ended_topups: _ended,
    automatic,
    reversals: _reversals,
    allow_multiple,
    credit_balance,
    updated_at,
    updated_by,
    ...shown
  } = wallet;
  return withoutNulls({
    ...shown,
    allow_multiple: allow_multiple || null,
    status,
    alert_settings: alertSettingsView(wallet.alert_settings),
    auto_topup: autoTopupView(wallet.auto_topup),
    auto_topup_status: automaticView(automatic, topups),
    // What changes with every entry comes last: see `often` of a column.
    credits_held: heldCredits(holds),
    credits_available_breakdown: breakdownOf(wallet),
    credit_balance,
    balance: balanceOf(wallet),
    updated_by,
    updated_at,
  });
}

/** The automatic top-ups on the wire; null while there were none. */
function automaticView({ day, count, stopped_on }: AutomaticState, topups: Wallet['topups']) {
  if (day === null) return null;
  const waiting = topups.find((topup) => topup.automatic)?.transaction_id ?? null;
  return withoutNulls({ day, topups: count, stopped_on, pending_transaction_id: waiting });
}

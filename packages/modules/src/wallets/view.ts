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
  // By name, so that the order is one whatever the order in the events was: see `walletMembers`.
  return withoutNulls({
    id: wallet.id,
    customer_id: wallet.customer_id,
    currency: wallet.currency,
    conversion_rate: wallet.conversion_rate,
    topup_conversion_rate: wallet.topup_conversion_rate,
    wallet_type: wallet.wallet_type,
    name: wallet.name,
    description: wallet.description,
    metadata: wallet.metadata,
    config: wallet.config,
    alert_settings: alertSettingsView(wallet.alert_settings),
    auto_topup: autoTopupView(wallet.auto_topup),
    priority: wallet.priority,
    tenant_id: wallet.tenant_id,
    environment_id: wallet.environment_id,
    created_at: wallet.created_at,
    created_by: wallet.created_by,
    wallet_status: wallet.wallet_status,
    alert_state: wallet.alert_state,
    allow_multiple: wallet.allow_multiple || null,
    status,
    auto_topup_status: automaticView(wallet.automatic, wallet.topups),
    // What changes with every entry comes last: see `often` of a column.
    credits_held: heldCredits(wallet.holds),
    credits_available_breakdown: breakdownOf(wallet),
    credit_balance: wallet.credit_balance,
    balance: balanceOf(wallet),
    updated_by: wallet.updated_by,
    updated_at: wallet.updated_at,
  });
}

/** The members of a wallet in their order: a row holds their values alone. */
export const walletMembers = {
  id: 'column',
  customer_id: 'column',
  currency: 'column',
  conversion_rate: 'numeric',
  topup_conversion_rate: 'numeric',
  wallet_type: 'column',
  name: 'column',
  description: 'text',
  metadata: 'json',
  config: 'json',
  alert_settings: 'json',
  auto_topup: 'json',
  priority: 'integer',
  tenant_id: 'column',
  environment_id: 'column',
  created_at: 'column',
  created_by: 'text',
  wallet_status: 'column',
  alert_state: 'text',
  allow_multiple: 'boolean',
  status: 'column',
  auto_topup_status: 'json',
  credits_held: 'json',
  credits_available_breakdown: 'json',
  credit_balance: 'column',
  balance: 'json',
  updated_by: 'text',
  updated_at: 'column',
} as const;

/** The automatic top-ups on the wire; null while there were none. */
function automaticView({ day, count, stopped_on }: AutomaticState, topups: Wallet['topups']) {
  if (day === null) return null;
  const waiting = topups.find((topup) => topup.automatic)?.transaction_id ?? null;
  return withoutNulls({ day, topups: count, stopped_on, pending_transaction_id: waiting });
}

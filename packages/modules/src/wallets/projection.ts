import { projection, recordProjection } from '@counterfoil/engine/define';
import { type HoldResource, holdAfter, holdIdOf } from './holds/resource.ts';
import { entryAfter, entryMembers, newEntries, touchedEntries } from './ledger/transaction.ts';
import type { TransactionResource } from './schema.ts';
import { walletMembers, walletView } from './view.ts';
import { nextDue, wallet } from './wallet.ts';

/** One row per wallet. */
export const walletTable = recordProjection(wallet, {
  name: 'wallets',
  version: 5,
  view: walletView,
  members: walletMembers,
  columns: {
    customer_id: { type: 'text', of: (shown) => shown.customer_id, index: true },
    currency: { type: 'text', of: (shown) => shown.currency },
    name: { type: 'text', of: (shown) => shown.name },
    wallet_status: { type: 'text', of: (shown) => shown.wallet_status },
    wallet_type: { type: 'text', of: (shown) => shown.wallet_type },
    credit_balance: { type: 'numeric', of: (shown) => shown.credit_balance, often: true },
    due_at: { type: 'timestamptz', of: (_shown, state) => nextDue(state), index: true },
    alert_enabled: {
      type: 'boolean',
      of: (shown) => shown.alert_settings?.alert_enabled ?? false,
    },
  },
});

/** One row per entry of the ledger; `credits_available` of a load falls as it is drawn from. */
export const transactionTable = projection(wallet, {
  name: 'wallet_transactions',
  version: 7,
  columns: {
    wallet_id: { type: 'text', of: (shown) => shown.wallet_id, index: true },
    effective_at: { type: 'timestamptz', of: (shown) => shown.effective_at, listed: true },
    completed_at: { type: 'timestamptz', of: (shown) => shown.completed_at },
    customer_id: { type: 'text', of: (shown) => shown.customer_id },
    type: { type: 'text', of: (shown) => shown.type },
    transaction_status: { type: 'text', of: (shown) => shown.transaction_status },
    transaction_reason: { type: 'text', of: (shown) => shown.transaction_reason },
    reference_type: { type: 'text', of: (shown) => shown.reference_type },
    reference_id: { type: 'text', of: (shown) => shown.reference_id },
    expiry_date: { type: 'timestamptz', of: (shown) => shown.expiry_date },
    credits_available: { type: 'numeric', of: (shown) => shown.credits_available, often: true },
    priority: { type: 'integer', of: (shown) => shown.priority },
    created_by: { type: 'text', of: (shown) => shown.created_by },
  },
  keys: touchedEntries,
  adds: newEntries,
  fold: (row: TransactionResource | null, event, key) => entryAfter(row, event, key),
  view: (row: TransactionResource) => row,
  // Only loads are drawn from. That a debit is reversed is rare.
  rests: (row) => row.type === 'debit',
  members: entryMembers,
});

/** One row per hold. */
export const holdTable = projection(wallet, {
  name: 'wallet_holds',
  version: 2,
  columns: {
    wallet_id: { type: 'text', of: (shown) => shown.wallet_id, index: true },
    hold_status: { type: 'text', of: (shown) => shown.hold_status },
  },
  keys: (event) => {
    const id = holdIdOf(event);
    return id === null ? [] : [id];
  },
  fold: (row: HoldResource | null, event, key) => holdAfter(row, event, key, event.aggregate_id),
  view: (row: HoldResource) => row,
});

import type { Placed } from '@counterfoil/engine/define';
import {
  createdStamps,
  type RecordStatus,
  type Stamped,
  updatedStamps,
  withoutNulls,
} from '@counterfoil/kernel';
import type { Entry, WalletEvent } from './events.ts';
import type { Draw } from './lots.ts';
import type { TransactionResource } from './schema.ts';

/** The events that move credits: each is one entry of the ledger. */
export type MovementEvent = Extract<
  WalletEvent,
  { type: 'CreditsLoaded' | 'CreditsDebited' | 'CreditsExpired' | 'HoldCaptured' }
>;

const movementTypes: readonly WalletEvent['type'][] = [
  'CreditsLoaded',
  'CreditsDebited',
  'CreditsExpired',
  'HoldCaptured',
];

/** Whether an event moves credits. */
export const isMovement = (event: WalletEvent): event is MovementEvent =>
  movementTypes.includes(event.type);

const status: RecordStatus = 'published';

/** The ledger entry that an event is, right after it happened (decision 27). */
export function transactionOf(
  event: Stamped<MovementEvent>,
  walletId: string,
): TransactionResource {
  const { data } = event;
  const stamps = createdStamps(event.stamp);
  return withoutNulls({
    id: data.transaction_id,
    ...stamps,
    status,
    wallet_id: walletId,
    ...shared(data),
    ...specific(event),
  });
}

const shared = (entry: Entry) => ({
  customer_id: entry.customer_id,
  transaction_status: 'completed' as const,
  transaction_reason: entry.reason,
  amount: entry.amount,
  credit_amount: entry.credits,
  credit_balance_before: entry.credit_balance_before,
  credit_balance_after: entry.credit_balance_after,
  currency: entry.currency,
  conversion_rate: entry.conversion_rate,
  topup_conversion_rate: entry.topup_conversion_rate,
  description: entry.description,
  idempotency_key: entry.idempotency_key,
  reference_type: entry.reference_type,
  reference_id: entry.reference_id,
  metadata: entry.metadata,
});

function specific(event: MovementEvent) {
  switch (event.type) {
    case 'CreditsLoaded':
      return {
        type: 'credit' as const,
        credits_available: event.data.credits_available,
        expiry_date: event.data.expires_at,
        priority: event.data.priority,
      };
    case 'CreditsDebited':
    case 'CreditsExpired':
    case 'HoldCaptured':
      return {
        type: 'debit' as const,
        credits_available: '0',
        drawn_from: event.data.drawn.map(({ transaction_id, credits }) => ({
          transaction_id,
          credits,
        })),
      };
    default:
      return event satisfies never;
  }
}

/** The loads whose unspent credits an event changes, with what they have afterwards. */
function changedLoads(event: WalletEvent): readonly Draw[] {
  switch (event.type) {
    case 'CreditsDebited':
    case 'CreditsExpired':
    case 'CreditsHeld':
      return event.data.drawn;
    case 'HoldCaptured':
      return [...event.data.returned, ...event.data.drawn];
    case 'HoldReleased':
      return event.data.returned;
    default:
      return [];
  }
}

/** The entry of a load after some of its credits were drawn or came back. */
export function afterDraw(
  load: TransactionResource,
  event: Placed<WalletEvent>,
): TransactionResource {
  const draw = changedLoads(event).find(({ transaction_id }) => transaction_id === load.id);
  if (!draw) return load;
  return { ...load, credits_available: draw.remaining, ...updatedStamps(event.stamp) };
}

/** Ids of the entries that an event touches: its own, and the loads it drew from or gave back. */
export const touchedEntries = (event: WalletEvent): readonly string[] => [
  ...(isMovement(event) ? [event.data.transaction_id] : []),
  ...changedLoads(event).map(({ transaction_id }) => transaction_id),
];

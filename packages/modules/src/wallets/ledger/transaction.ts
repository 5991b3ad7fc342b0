import type { RecordedEvent } from '@counterfoil/engine/define';
import {
  createdStamps,
  type DecimalText,
  decimal,
  type RecordStatus,
  type Stamped,
  textOf,
  updatedStamps,
  withoutNulls,
} from '@counterfoil/kernel';
import type { ReturnedLot, WalletEvent } from '../events.ts';
import type { TransactionResource } from '../schema.ts';
import type { Draw, Lot } from './lots.ts';
import { effectiveAt } from './times.ts';

/** The events that move credits: each is one entry of the ledger. */
export type MovementEvent = Extract<
  WalletEvent,
  { type: 'CreditsLoaded' | 'CreditsDebited' | 'CreditsExpired' | 'HoldCaptured' | 'DebitReversed' }
>;

const movementTypes: readonly WalletEvent['type'][] = [
  'CreditsLoaded',
  'CreditsDebited',
  'CreditsExpired',
  'HoldCaptured',
  'DebitReversed',
];

/** Tells whether an event moves credits. */
export const isMovement = (event: WalletEvent): event is MovementEvent =>
  movementTypes.includes(event.type);

/** The events of which each shows a ledger entry: movements, and orders of credits with their failures. */
export type EntryEvent =
  | MovementEvent
  | Extract<WalletEvent, { type: 'TopUpRequested' | 'TopUpFailed' }>;

/** Tells whether an event shows a whole entry of the ledger. */
export const isEntry = (event: WalletEvent): event is EntryEvent =>
  isMovement(event) || event.type === 'TopUpRequested' || event.type === 'TopUpFailed';

const status: RecordStatus = 'published';

/** The ledger entry that an event is, right after it happened (D27). */
export function transactionOf(event: Stamped<EntryEvent>, walletId: string): TransactionResource {
  const { data } = event;
  const requested = 'requested' in data ? data.requested : undefined;
  const stamps = createdStamps(event.stamp);
  const own = specific(event);
  const recorded = requested ?? { at: stamps.created_at, by: stamps.created_by };
  // Every member by its name, for each row of the largest table passes here: to spread the parts takes three times as long.
  return withoutNulls({
    id: data.transaction_id,
    tenant_id: stamps.tenant_id,
    environment_id: stamps.environment_id,
    created_at: recorded.at,
    created_by: recorded.by,
    effective_at: effectiveAt(event),
    recorded_at: recorded.at,
    completed_at: isMovement(event) ? event.stamp.occurred_at : null,
    sequence: isMovement(event) ? event.data.sequence : null,
    status,
    wallet_id: walletId,
    customer_id: data.customer_id,
    transaction_reason: data.reason,
    amount: data.amount,
    credit_amount: data.credits,
    currency: data.currency,
    conversion_rate: data.conversion_rate,
    topup_conversion_rate: data.topup_conversion_rate,
    description: data.description,
    idempotency_key: data.idempotency_key,
    reference_type: data.reference_type,
    reference_id: data.reference_id,
    metadata: data.metadata,
    type: own.type,
    transaction_status: own.transaction_status,
    credit_balance_before: own.credit_balance_before,
    credit_balance_after: own.credit_balance_after,
    drawn_from: own.drawn_from ?? null,
    credits_requested: own.credits_requested ?? null,
    credits_missing: own.credits_missing ?? null,
    reverses: own.reverses ?? null,
    returned_to: own.returned_to ?? null,
    expiry_date: own.expiry_date ?? null,
    priority: own.priority ?? null,
    // What a draw changes comes last: see `often` of a column.
    credits_available: own.credits_available,
    updated_by: stamps.updated_by,
    updated_at: stamps.updated_at,
  });
}

/** The members of an entry in their order: a row holds their values alone. */
export const entryMembers = {
  id: 'column',
  tenant_id: 'column',
  environment_id: 'column',
  created_at: 'column',
  created_by: 'column',
  effective_at: 'column',
  recorded_at: 'timestamptz',
  completed_at: 'column',
  sequence: 'integer',
  status: 'column',
  wallet_id: 'column',
  customer_id: 'column',
  transaction_reason: 'column',
  amount: 'numeric',
  credit_amount: 'numeric',
  currency: 'text',
  conversion_rate: 'numeric',
  topup_conversion_rate: 'numeric',
  description: 'text',
  idempotency_key: 'text',
  reference_type: 'column',
  reference_id: 'column',
  metadata: 'json',
  type: 'column',
  transaction_status: 'column',
  credit_balance_before: 'numeric',
  credit_balance_after: 'numeric',
  drawn_from: 'json',
  credits_requested: 'json',
  credits_missing: 'json',
  reverses: 'json',
  returned_to: 'json',
  expiry_date: 'column',
  priority: 'column',
  credits_available: 'column',
  updated_by: 'text',
  updated_at: 'column',
  credits_reversed: 'json',
} as const;

/** The members that entries of a kind have in a way of their own, or alone. */
type OwnMembers = Pick<
  TransactionResource,
  | 'type'
  | 'transaction_status'
  | 'credit_balance_before'
  | 'credit_balance_after'
  | 'drawn_from'
  | 'credits_requested'
  | 'credits_missing'
  | 'reverses'
  | 'returned_to'
  | 'credits_available'
> & { readonly expiry_date?: Lot['expires_at']; readonly priority?: Lot['priority'] };

function specific(event: EntryEvent): OwnMembers {
  switch (event.type) {
    case 'CreditsLoaded':
      return {
        type: 'credit' as const,
        ...moved(event.data),
        credits_available: event.data.credits_available,
        ...lotOf(event.data),
      };
    case 'TopUpRequested':
    case 'TopUpFailed':
      return {
        type: 'credit' as const,
        transaction_status:
          event.type === 'TopUpFailed' ? ('failed' as const) : ('pending' as const),
        credit_balance_before: event.data.credit_balance,
        credit_balance_after: event.data.credit_balance,
        credits_available: '0',
        ...lotOf(event.data),
      };
    case 'CreditsDebited':
    case 'CreditsExpired':
    case 'HoldCaptured':
      return {
        type: 'debit' as const,
        ...moved(event.data),
        credits_available: '0',
        drawn_from: partsOf(event.data.drawn),
        ...('credits_requested' in event.data ? shortfall(event.data) : {}),
      };
    case 'DebitReversed':
      return {
        type: 'credit' as const,
        ...moved(event.data),
        credits_available: event.data.credits_available,
        reverses: event.data.reverses,
        returned_to: partsOf(event.data.returned),
      };
    default:
      return event satisfies never;
  }
}

/** The credits that a debit with allow_partial was to take, and those of them that were not there (D26). */
function shortfall({ credits, credits_requested }: Taken) {
  if (credits_requested === undefined) return {};
  const credits_missing = textOf(decimal(credits_requested).minus(decimal(credits)));
  return { credits_requested, credits_missing };
}

interface Taken {
  readonly credits: DecimalText;
  readonly credits_requested?: DecimalText | undefined;
}

/** The members that all movements share: they are final, and lead from one balance to the next. */
const moved = ({ credit_balance_before, credit_balance_after }: MovementEvent['data']) => ({
  transaction_status: 'completed' as const,
  credit_balance_before,
  credit_balance_after,
});

const partsOf = (draws: readonly Draw[]) =>
  draws.map(({ transaction_id, credits }) => ({ transaction_id, credits }));

const lotOf = ({ expires_at, priority }: Pick<Lot, 'expires_at' | 'priority'>) => ({
  expiry_date: expires_at,
  priority,
});

/** The loads whose unspent credits an event changes, with their remaining credits afterwards. */
function changedLoads(event: WalletEvent): readonly (Draw | ReturnedLot)[] {
  switch (event.type) {
    case 'CreditsDebited':
    case 'CreditsExpired':
    case 'CreditsHeld':
      return event.data.drawn;
    case 'HoldChanged':
    case 'HoldCaptured':
      return [...event.data.returned, ...event.data.drawn];
    case 'HoldReleased':
    case 'DebitReversed':
      return event.data.returned;
    default:
      return [];
  }
}

/** The entry of the ledger with an id, after an event of its wallet; null before it exists. */
export function entryAfter(
  entry: TransactionResource | null,
  event: RecordedEvent<WalletEvent>,
  id: string,
): TransactionResource | null {
  if (isEntry(event) && event.data.transaction_id === id) {
    return transactionOf(event, event.aggregate_id);
  }
  if (entry && event.type === 'DebitReversed' && event.data.reverses === id) {
    return { ...entry, credits_reversed: event.data.reversed, ...updatedStamps(event.stamp) };
  }
  return entry && afterDraw(entry, event);
}

/** The entry of a load after some of its credits were drawn or returned. */
function afterDraw(
  load: TransactionResource,
  event: RecordedEvent<WalletEvent>,
): TransactionResource {
  const draw = changedLoads(event).find(({ transaction_id }) => transaction_id === load.id);
  if (!draw) return load;
  // A reversal renews the expiry of a lot that had expired.
  const expiry = 'expires_at' in draw ? draw.expires_at : null;
  return {
    ...load,
    credits_available: draw.remaining,
    ...(expiry === null ? {} : { expiry_date: expiry }),
    ...updatedStamps(event.stamp),
  };
}

/** Ids of the entries that an event changes: its own, and the loads that it drew from or returned credits to. */
export const touchedEntries = (event: WalletEvent): readonly string[] => [
  ...(isEntry(event) ? [event.data.transaction_id] : []),
  ...(event.type === 'DebitReversed' ? [event.data.reverses] : []),
  ...changedLoads(event).map(({ transaction_id }) => transaction_id),
];

/** Ids of the entries that an event is the first to show: its own, unless it was ordered before. */
export const newEntries = (event: WalletEvent): readonly string[] =>
  isEntry(event) &&
  event.type !== 'TopUpFailed' &&
  !('requested' in event.data && event.data.requested)
    ? [event.data.transaction_id]
    : [];

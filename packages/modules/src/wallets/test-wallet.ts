import {
  type DecimalText,
  type Instant,
  RefusedWithEvents,
  type Stamped,
} from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { folded, stampAt } from '@counterfoil/testkit';
import { type AskedDebit, createWallet, debitCredits, type WalletDecision } from './decisions.ts';
import type { CreatedData, Entry, TransactionReason, WalletEvent } from './events.ts';
import type { NewHold } from './holds/decisions.ts';
import type { EntryDetails, Load } from './ledger/entries.ts';
import { entryAfter, touchedEntries } from './ledger/transaction.ts';
import { type ReversibleEntry, reversibleEntry } from './reversals/reversals.ts';
import type { TransactionResource } from './schema.ts';
import { type Wallet, type WalletState, wallet } from './wallet.ts';

/** One wallet for the tests, and its commands with everything else filled in. */
export const id = 'wallet_01';

export const text = (value: string): DecimalText => value as DecimalText;

/** The nth second of a story. */
export const at = (second: number): Instant => stampAt(second).occurred_at;

export const details = (reason: TransactionReason = 'MANUAL_BALANCE_DEBIT'): EntryDetails => ({
  reason,
  referenceType: null,
  referenceId: null,
  description: null,
  idempotencyKey: null,
  metadata: {},
});

export const created = (overrides: object = {}): CreatedData =>
  ({
    id,
    customer_id: 'cust_01',
    currency: 'usd',
    conversion_rate: '1',
    topup_conversion_rate: '1',
    wallet_type: 'PRE_PAID',
    name: 'Prepaid Wallet - USD',
    description: null,
    metadata: {},
    config: { allowed_price_types: ['USAGE'] },
    alert_settings: null,
    auto_topup: null,
    ...overrides,
  }) as unknown as CreatedData;

export const load = (credits: string, options: Partial<Load> = {}): Load => ({
  ...details('FREE_CREDIT_GRANT'),
  quantity: { credits: text(credits) },
  priority: null,
  expiresAt: null,
  ...options,
});

export const debitOf = (credits: string, isPartialAllowed = false): AskedDebit => ({
  ...details(),
  credits: text(credits),
  isPartialAllowed,
});

export const debit = (credits: string): WalletDecision => debitCredits(id, debitOf(credits));

export const holdOf = (
  name: string,
  credits: string,
  expiresAt: Instant | null = null,
): NewHold => ({
  holdId: `hold_${name}` as NewHold['holdId'],
  credits: text(credits),
  expiresAt,
  description: null,
  metadata: {},
});

/** Creates the wallet, with a number of free credits in it. */
export const create = (overrides: object = {}, credits: string | Load | null = null) =>
  createWallet(created(overrides), typeof credits === 'string' ? load(credits) : credits);

/** The events of decisions that are made one after the other, each on the state after those before. */
export function story(...decisions: readonly WalletDecision[]): readonly WalletEvent[] {
  const events: WalletEvent[] = [];
  for (const decide of decisions) events.push(...decide(folded(wallet, events), at(events.length)));
  return events;
}

/** The wallet that decisions lead to. */
export const after = (...decisions: readonly WalletDecision[]): Wallet =>
  folded(wallet, story(...decisions)) as Wallet;

/** The wallet that events lead to. */
export const walletAfter = (events: readonly WalletEvent[]): Wallet =>
  folded(wallet, events) as Wallet;

/** The events of a decision, or those that its refusal leads to. */
function decided(decide: WalletDecision, state: WalletState, now: Instant): readonly WalletEvent[] {
  try {
    return decide(state, now);
  } catch (error) {
    if (error instanceof RefusedWithEvents) return error.events as readonly WalletEvent[];
    throw error;
  }
}

/** The events of decisions, each made at the second beside it. */
export function history(
  ...steps: readonly (readonly [second: number, decide: WalletDecision])[]
): readonly Stamped<WalletEvent>[] {
  const events: Stamped<WalletEvent>[] = [];
  for (const [second, decide] of steps) {
    const stamp = stampAt(second);
    const state = events.reduce(wallet.evolve, wallet.initial);
    for (const event of decided(decide, state, stamp.occurred_at)) {
      const data = wallet.events[event.type].parse(event.data);
      events.push({ ...event, data, stamp } as Stamped<WalletEvent>);
    }
  }
  return events;
}

/** The entry that so many debits and captures ago took credits, as a look-up gives it; null for none. */
export function reversibleIn(
  log: readonly Stamped<WalletEvent>[],
  back: number,
): ReversibleEntry | null {
  const isReversible = ({ type }: WalletEvent) =>
    type === 'CreditsDebited' || type === 'HoldCaptured';
  const entry = log.filter(isReversible).at(-1 - back);
  if (!entry) return null;
  const rows = new Map<string, TransactionResource>();
  for (const [revision, event] of log.entries()) {
    const recorded = {
      ...event,
      aggregate: 'wallet',
      aggregate_id: id,
      event_id: '',
      revision,
      position: '0',
    };
    for (const key of touchedEntries(event)) {
      const row = entryAfter(rows.get(key) ?? null, recorded, key);
      if (row) rows.set(key, row);
    }
  }
  const row = rows.get((entry.data as Entry).transaction_id);
  const reversals = log.filter(({ type }) => type === 'DebitReversed').length;
  return row ? reversibleEntry(row, rows, reversals) : null;
}

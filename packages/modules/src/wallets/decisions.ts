import {
  type Changes,
  changedFields,
  type DecimalText,
  type Decision,
  decimal,
  divide,
  type Instant,
  invalidOperation,
  isEmpty,
  type Metadata,
  notFound,
  refusal,
  sequencedId,
  smaller,
  textOf,
  zero,
} from '@counterfoil/kernel';
import type { Entry, TransactionReason, WalletEvent, WalletSettings } from './events.ts';
import { drawFrom, isExpired, type Lot, sumOf } from './lots.ts';
import { type Wallet, type WalletState, wallet as walletAggregate } from './wallet.ts';

export type WalletDecision = Decision<WalletState, WalletEvent>;

/** How much: by credits, or by an amount of the currency at the top-up rate (decision 22). */
export type Quantity = { readonly credits: DecimalText } | { readonly amount: DecimalText };

/** What a caller says about a movement of credits. */
export interface EntryDetails {
  readonly reason: TransactionReason;
  readonly referenceType: Entry['reference_type'];
  readonly referenceId: string | null;
  readonly description: string | null;
  readonly idempotencyKey: string | null;
  readonly metadata: Metadata;
}

/** Credits to be loaded as one lot. */
export interface Load extends EntryDetails {
  readonly quantity: Quantity;
  readonly priority: number | null;
  readonly expiresAt: Instant | null;
}

/** Credits to be taken. */
export interface Debit extends EntryDetails {
  readonly credits: DecimalText;
}

const creditPlaces = 9;

type CreatedData = Extract<WalletEvent, { type: 'WalletCreated' }>['data'];

/**
 * Creates the wallet, with its initial credits as a first load. Creating the same wallet twice
 * is refused: a repeated request never gets here.
 */
export const createWallet =
  (data: CreatedData, initialLoad: Load | null): WalletDecision =>
  (state, at) => {
    if (state) throw invalidOperation(`Wallet ${state.id} exists already.`);
    const created: WalletEvent = { type: 'WalletCreated', data };
    if (!initialLoad) return [created];
    return chain(blank(data), [(wallet) => loadEvents(wallet, initialLoad, at)], [created]);
  };

/** Loads credits as lots of their own, in the order given (decisions 22 to 25). */
export const loadCredits =
  (id: string, loads: readonly Load[]): WalletDecision =>
  (state, at) => {
    const wallet = open(state, id, 'take credits');
    const steps = loads.map((load) => (current: Wallet) => loadEvents(current, load, at));
    return chain(wallet, [(current) => expiryEvents(current, at), ...steps]);
  };

/**
 * Takes credits in draw-down order. A PRE_PAID wallet refuses a debit over its available credits
 * whole; a POST_PAID wallet may go below zero (decision 26).
 */
export const debitCredits =
  (id: string, debit: Debit): WalletDecision =>
  (state, at) => {
    const wallet = open(state, id, 'be debited');
    return chain(wallet, [
      (current) => expiryEvents(current, at),
      (current) => {
        assertFunds(current, debit.credits);
        return [debitEvent(current, debit, at)];
      },
    ]);
  };

/** Changes the settings that a caller may change. No event when nothing changes. */
export const changeSettings =
  (id: string, changes: Changes<WalletSettings>): WalletDecision =>
  (state) => {
    const wallet = open(state, id, 'be changed');
    const changed = changedFields<WalletSettings>(wallet, changes);
    return isEmpty(changed) ? [] : [{ type: 'WalletSettingsChanged', data: changed }];
  };

/** Takes what is left and closes the wallet for ever (decision 25). */
export const terminateWallet =
  (id: string, details: Omit<EntryDetails, 'reason'>): WalletDecision =>
  (state, at) => {
    const wallet = open(state, id, 'be terminated');
    if (decimal(wallet.credit_balance).cmp(zero) < 0) {
      throw refusal('The wallet owes credits. Top it up to zero before terminating it.', {
        credit_balance: wallet.credit_balance,
      });
    }
    const rest = (current: Wallet): WalletEvent[] =>
      current.credit_balance === '0'
        ? []
        : [
            debitEvent(
              current,
              { ...details, reason: 'WALLET_TERMINATION', credits: current.credit_balance },
              at,
            ),
          ];
    const closed: WalletEvent = { type: 'WalletClosed', data: {} };
    return [...chain(wallet, [(current) => expiryEvents(current, at), rest]), closed];
  };

/** The wallet, if it exists and is not closed. Throws 404 or 400. */
function open(state: WalletState, id: string, purpose: string): Wallet {
  if (!state) throw notFound('wallet', id);
  if (state.wallet_status === 'closed') {
    throw refusal(`Wallet ${id} is closed and cannot ${purpose}.`, {
      wallet_status: state.wallet_status,
    });
  }
  if (state.wallet_status === 'frozen' && purpose === 'be debited') {
    throw refusal(`Wallet ${id} is frozen and cannot ${purpose}. Unfreeze it first.`, {
      wallet_status: state.wallet_status,
    });
  }
  return state;
}

function assertFunds(wallet: Wallet, requested: DecimalText): void {
  if (wallet.wallet_type === 'POST_PAID') return;
  const available = sumOf(wallet.lots);
  if (decimal(requested).cmp(decimal(available)) <= 0) return;
  throw refusal(`The wallet has ${available} credits available, ${requested} requested.`, {
    available,
    requested,
  });
}

type Step = (wallet: Wallet) => readonly WalletEvent[];

/** Runs steps one after the other, each on the wallet as the events before it left it. */
function chain(
  start: Wallet,
  steps: readonly Step[],
  before: readonly WalletEvent[] = [],
): readonly WalletEvent[] {
  const events = [...before];
  let current = start;
  for (const step of steps) {
    for (const event of step(current)) {
      events.push(event);
      current = foldInto(current, event);
    }
  }
  return events;
}

/** Folds an event that has no stamp yet; the stamps of the record do not matter to decisions. */
function foldInto(wallet: Wallet, event: WalletEvent): Wallet {
  const stamp = {
    tenant_id: wallet.tenant_id,
    environment_id: wallet.environment_id,
    occurred_at: wallet.updated_at,
    actor: { user_id: null, key_id: null },
  };
  return walletAggregate.evolve(wallet, { ...event, stamp } as never) ?? wallet;
}

/** A wallet as WalletCreated leaves it, for the steps that follow in the same decision. */
const blank = (data: CreatedData): Wallet =>
  walletAggregate.evolve(null, {
    type: 'WalletCreated',
    data,
    stamp: { actor: { user_id: null, key_id: null } },
  } as never) as Wallet;

/** Books what has expired by now, one transaction per lot, in order of expiry. */
function expiryEvents(wallet: Wallet, at: Instant): readonly WalletEvent[] {
  const expired = wallet.lots
    .filter((lot) => isExpired(lot, at))
    .toSorted((a, b) => ((a.expires_at ?? '') < (b.expires_at ?? '') ? -1 : 1));
  let current = wallet;
  return expired.map((lot) => {
    const event = expiryEvent(current, lot, at);
    current = foldInto(current, event);
    return event;
  });
}

function expiryEvent(wallet: Wallet, lot: Lot, at: Instant): WalletEvent {
  const credits = lot.remaining;
  const details = {
    reason: 'CREDIT_EXPIRED' as const,
    referenceType: null,
    referenceId: lot.transaction_id,
    description: null,
    idempotencyKey: null,
    metadata: {},
  };
  return {
    type: 'CreditsExpired',
    data: {
      ...entry(wallet, details, at, credits, out(credits), wallet.conversion_rate),
      drawn: [{ transaction_id: lot.transaction_id, credits, remaining: '0' as DecimalText }],
      expired_at: lot.expires_at ?? at,
    },
  };
}

function loadEvents(wallet: Wallet, load: Load, at: Instant): readonly WalletEvent[] {
  const credits = creditsOf(load.quantity, wallet);
  if (decimal(credits).cmp(zero) <= 0) {
    throw invalidOperation('The amount is worth less than the smallest part of a credit.', {
      credits,
    });
  }
  const booked = entry(wallet, load, at, credits, credits, wallet.topup_conversion_rate);
  // A load on a wallet that owes pays the debt first; only the rest can be spent (§3.4).
  const available = smaller(decimal(credits), decimal(booked.credit_balance_after));
  return [
    {
      type: 'CreditsLoaded',
      data: {
        ...booked,
        amount: 'amount' in load.quantity ? load.quantity.amount : booked.amount,
        priority: load.priority,
        expires_at: load.expiresAt,
        credits_available: textOf(available.cmp(zero) > 0 ? available : zero),
      },
    },
  ];
}

/** Credits of a quantity: an amount is divided by the top-up rate, half to even at 9 digits. */
const creditsOf = (quantity: Quantity, wallet: Wallet): DecimalText =>
  'credits' in quantity
    ? quantity.credits
    : textOf(divide(decimal(quantity.amount), decimal(wallet.topup_conversion_rate), creditPlaces));

const debitEvent = (wallet: Wallet, debit: Debit, at: Instant): WalletEvent => ({
  type: 'CreditsDebited',
  data: {
    ...entry(wallet, debit, at, debit.credits, out(debit.credits), wallet.conversion_rate),
    drawn: [...drawFrom(wallet.lots, debit.credits)],
  },
});

const out = (credits: DecimalText): DecimalText => textOf(decimal(credits).neg());

/** The part that all movements share. `change` is signed, `credits` is not. */
function entry(
  wallet: Wallet,
  details: EntryDetails,
  at: Instant,
  credits: DecimalText,
  change: DecimalText,
  rate: DecimalText,
): Entry {
  const sequence = wallet.transactions + 1;
  return {
    transaction_id: sequencedId('wtxn', at, wallet.id, sequence),
    sequence,
    customer_id: wallet.customer_id,
    currency: wallet.currency,
    conversion_rate: wallet.conversion_rate,
    topup_conversion_rate: wallet.topup_conversion_rate,
    credits,
    amount: textOf(decimal(credits).times(decimal(rate))),
    credit_balance_before: wallet.credit_balance,
    credit_balance_after: textOf(decimal(wallet.credit_balance).plus(decimal(change))),
    reason: details.reason,
    reference_type: details.referenceType,
    reference_id: details.referenceId,
    description: details.description,
    idempotency_key: details.idempotencyKey,
    metadata: details.metadata,
  };
}

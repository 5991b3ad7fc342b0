import {
  type Changes,
  changedFields,
  type DecimalText,
  type Decision,
  decimal,
  type Instant,
  invalidOperation,
  invariant,
  isEmpty,
  notFound,
  refusal,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import { alertEvents } from './alerts.ts';
import type { CreatedData, WalletEvent, WalletSettings } from './events.ts';
import { blankWallet, chain } from './ledger/chain.ts';
import { dueEvents } from './ledger/due.ts';
import {
  assertExisted,
  type Debit,
  debitEvent,
  type EntryDetails,
  failureEvent,
  type Load,
  loadEvents,
  type PartialDebit,
} from './ledger/entries.ts';
import { lotsSince, sumOf } from './ledger/lots.ts';
import { concluded, taking } from './topups/automatic.ts';
import { type BonusSlabs, bonusEvents, bonusFor } from './topups/bonus.ts';
import { resumesAt, type Wallet, type WalletState } from './wallet.ts';

export type WalletDecision = Decision<WalletState, WalletEvent>;

/**
 * Creates the wallet, with its initial credits as a first load. Refuses to create the same wallet twice:
 * a repeated request never gets here.
 */
export const createWallet =
  (data: CreatedData, initialLoad: Load | null): WalletDecision =>
  (state, at) => {
    if (state) throw invalidOperation(`Wallet ${state.id} exists already.`, { reason: 'exists' });
    const created: WalletEvent = { type: 'WalletCreated', data };
    const load = (wallet: Wallet) => (initialLoad ? loadEvents(wallet, initialLoad, at) : []);
    return chain(blankWallet(data), [load, ...concluded(at, 'settings')], [created]);
  };

/**
 * Loads credits that are bought, and the bonus that so many bring, in a lot of its own.
 *
 * @param slabs the bonuses by how many are bought
 */
export const loadPurchase =
  (id: string, load: Load, slabs: BonusSlabs): WalletDecision =>
  (state, at) => {
    const wallet = open(state, id, 'take credits');
    return chain(wallet, [
      (current) => dueEvents(current, at),
      (current) => loadEvents(current, load, at),
      (current, events) => {
        const loaded = events.at(-1);
        if (loaded?.type !== 'CreditsLoaded') return [];
        const { credits, transaction_id: transactionId } = loaded.data;
        const bonus = bonusFor(slabs, credits);
        return bonus ? bonusEvents(current, { ...load, transactionId }, bonus, at) : [];
      },
      ...concluded(at),
    ]);
  };

/** Loads credits as lots of their own, in the order given (D22 to D25). */
export const loadCredits =
  (id: string, loads: readonly Load[]): WalletDecision =>
  (state, at) => {
    const wallet = open(state, id, 'take credits');
    const steps = loads.map((load) => (current: Wallet) => loadEvents(current, load, at));
    return chain(wallet, [(current) => dueEvents(current, at), ...steps, ...concluded(at)]);
  };

/**
 * Takes credits in draw-down order. A PRE_PAID wallet refuses a debit over its available credits
 * whole, unless it may be partial; a POST_PAID wallet may go below zero (D26).
 */
export const debitCredits =
  (id: string, debit: AskedDebit): WalletDecision =>
  (state, at) => {
    const wallet = spendable(state, id);
    return taking(wallet, at, [(current) => [debitEvent(current, payable(current, debit), at)]]);
  };

/** Changes the settings that a caller may change. No event when nothing changes. */
export const changeSettings =
  (id: string, changes: Changes<WalletSettings>): WalletDecision =>
  (state, at) => {
    const wallet = open(state, id, 'be changed');
    const changed = changedFields<WalletSettings>(wallet, changes);
    if (isEmpty(changed)) return [];
    return chain(wallet, [
      (current) => dueEvents(current, at),
      () => [{ type: 'WalletSettingsChanged', data: changed }],
      ...concluded(at, changed.auto_topup === undefined ? null : 'settings'),
    ]);
  };

/** Stops debits; credits may still come in (D25). Freezing twice changes nothing. */
export const freezeWallet =
  (id: string): WalletDecision =>
  (state, at) => {
    const wallet = open(state, id, 'be frozen');
    if (wallet.wallet_status === 'frozen') return [];
    const due = (current: Wallet) => dueEvents(current, at);
    return chain(wallet, [due, () => [{ type: 'WalletFrozen', data: {} }], ...concluded(at)]);
  };

/** Allows debits again. Unfreezing an active wallet changes nothing. */
export const unfreezeWallet =
  (id: string): WalletDecision =>
  (state, at) => {
    const wallet = open(state, id, 'be unfrozen');
    if (wallet.wallet_status === 'active') return [];
    return chain(wallet, [
      (current) => dueEvents(current, at),
      () => [{ type: 'WalletUnfrozen', data: {} }],
      ...concluded(at, 'unfreezing'),
    ]);
  };

/**
 * Ends the holds, orders and lots that are due by now (D23), and goes on with automatic top-up on the day
 * after its breaker (D29). Nothing due, no events.
 */
export const settleDue =
  (id: string): WalletDecision =>
  (state, at) => {
    if (!state || state.wallet_status === 'closed') return [];
    invariant(state.id === id, `wallet ${state.id} was asked as ${id}`);
    const resumption = resumesAt(state);
    const cause = resumption !== null && resumption <= at ? 'new_day' : null;
    return chain(state, [(current) => dueEvents(current, at), ...concluded(at, cause)]);
  };

/** Cancels open orders, takes the remaining credits and closes the wallet for ever (D25). */
export const terminateWallet =
  (id: string, details: Omit<EntryDetails, 'reason'>): WalletDecision =>
  (state, at) => {
    const wallet = open(state, id, 'be terminated');
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
    const due = (current: Wallet) => dueEvents(current, at);
    const orders = (current: Wallet) =>
      current.topups.map((topup) => failureEvent(current, topup, 'wallet_closed', at));
    return chain(wallet, [due, assertEndable, orders, rest, alertEvents, () => [closed]]);
  };

/** Refuses to close a wallet that owes credits or has open holds. Returns no events. */
function assertEndable(wallet: Wallet): readonly [] {
  if (decimal(wallet.credit_balance).cmp(zero) < 0) {
    throw refusal('The wallet owes credits. Top it up to zero before terminating it.', {
      reason: 'wallet_in_debt',
      credit_balance: wallet.credit_balance,
    });
  }
  if (wallet.holds.length > 0) {
    throw refusal('The wallet has open holds. Capture or void them before terminating it.', {
      reason: 'open_holds',
      holds: wallet.holds.map((hold) => hold.id),
    });
  }
  return [];
}

/** The wallet, which must exist and not be closed. Throws 404 or 400. */
export function open(state: WalletState, id: string, purpose: string): Wallet {
  if (!state) throw notFound('wallet', id);
  if (state.wallet_status === 'closed') {
    throw refusal(`Wallet ${id} is closed and cannot ${purpose}.`, {
      reason: 'wallet_closed',
      wallet_status: state.wallet_status,
    });
  }
  return state;
}

/** The wallet, of which credits may be taken or set aside. Throws 404 or 400. */
export function spendable(state: WalletState, id: string): Wallet {
  const wallet = open(state, id, 'be debited');
  if (wallet.wallet_status !== 'frozen') return wallet;
  throw refusal(`Wallet ${id} is frozen and cannot be debited. Unfreeze it first.`, {
    reason: 'wallet_frozen',
    wallet_status: wallet.wallet_status,
  });
}

/** A debit as it is asked for: whole or not at all, or as much as is there (D26). */
export interface AskedDebit extends Debit {
  readonly isPartialAllowed?: boolean;
}

/**
 * The debit as the wallet can pay it: all of it, or the part that is there where that is allowed. Refuses it
 * otherwise, and where nothing is there. A wallet that may owe pays all of it, so that a part makes no sense there.
 */
export function payable(
  wallet: Wallet,
  { isPartialAllowed, ...debit }: AskedDebit,
): Debit | PartialDebit {
  if (!isPartialAllowed) {
    assertFunds(wallet, debit.credits, debit.effectiveAt);
    return debit;
  }
  if (wallet.wallet_type === 'POST_PAID') {
    throw invalidOperation(
      `Wallet ${wallet.id} is POST_PAID and pays each debit whole. Leave allow_partial out.`,
      { reason: 'never_partial' },
    );
  }
  const { credits: requested, effectiveAt } = debit;
  const available = fundsOf(wallet, effectiveAt);
  const isPart = available !== zeroText && decimal(available).cmp(decimal(requested)) < 0;
  const credits = isPart ? available : requested;
  assertFunds(wallet, credits, effectiveAt);
  return { ...debit, credits, requested };
}

/** Credits in lots; for a debit that is dated back, those that were in them then and ever since. */
export const fundsOf = ({ lots }: Wallet, effectiveAt?: Instant): DecimalText =>
  sumOf(effectiveAt === undefined ? lots : lotsSince(lots, effectiveAt));

/**
 * Refuses more than the lots hold, unless the wallet may owe (D26). Of a debit that is dated back, more than
 * was in them then and ever since: it was in the balance at each instant, so none of it falls below zero
 * (D73; ADR 29).
 */
export function assertFunds(wallet: Wallet, requested: DecimalText, effectiveAt?: Instant): void {
  if (effectiveAt !== undefined) assertExisted(wallet, effectiveAt);
  if (wallet.wallet_type === 'POST_PAID') return;
  const available = fundsOf(wallet, effectiveAt);
  if (decimal(requested).cmp(decimal(available)) <= 0) return;
  if (effectiveAt === undefined) {
    throw refusal(`The wallet has ${available} credits available, ${requested} requested.`, {
      reason: 'insufficient_credits',
      available,
      requested,
    });
  }
  throw refusal(
    `Of its credits of ${effectiveAt} the wallet has ${available} left, ${requested} requested.`,
    { reason: 'insufficient_credits_then', available, requested, effective_at: effectiveAt },
  );
}

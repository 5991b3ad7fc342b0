import {
  aggregate,
  type Currency,
  type CustomerId,
  createdStamps,
  type DecimalText,
  decimal,
  type Instant,
  invariant,
  laterOf,
  type RecordStamps,
  type Stamped,
  type TransactionId,
  textOf,
  updatedStamps,
  type WalletId,
  withChanges,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import {
  type AlertState,
  type WalletEvent,
  type WalletSettings,
  type WalletType,
  walletEvents,
} from './events.ts';
import { afterCapture, type Hold, heldCredits, holdFrom, partsReturned } from './holds/holds.ts';
import { keptEntries } from './ledger/kept-entries.ts';
import {
  afterDebit,
  afterDraws,
  type Lot,
  lotOfLoad,
  refilledAt,
  sumOf,
  withLot,
  withReturned,
} from './ledger/lots.ts';
import { noReversals, ownLot, type Reversals, withReversal } from './reversals/reversals.ts';
import {
  type AutomaticState,
  afterAutomatic,
  type EndedTopUp,
  noneAutomatic,
  type PendingTopUp,
  pendingTopUp,
  resumption,
  withEnd,
  withoutTopUp,
} from './topups/topups.ts';

export type WalletStatus = 'active' | 'frozen' | 'closed';

/** A wallet: credits of one customer in one currency. Credits are the truth (D22). */
export interface Wallet extends RecordStamps, WalletSettings {
  readonly id: WalletId;
  readonly customer_id: CustomerId;
  readonly currency: Currency;
  readonly conversion_rate: DecimalText;
  readonly topup_conversion_rate: DecimalText;
  readonly wallet_type: WalletType;
  readonly wallet_status: WalletStatus;
  readonly allow_multiple: boolean;
  /** Set where it was made for money that is owed to a customer who was archived by then. */
  readonly is_owed?: true | undefined;
  readonly alert_state: AlertState;
  /** The alert levels of the balance less what is going to be paid: the wallet's own, and those of features that are not `ok`. */
  readonly ongoing: OngoingAlerts;
  /** Sum of the lots less what is owed; below zero only for POST_PAID. */
  readonly credit_balance: DecimalText;
  /** Unspent credits in draw-down order. */
  readonly lots: readonly Lot[];
  /** Open holds, oldest first. Their credits are in the balance, but in no lot. */
  readonly holds: readonly Hold[];
  /** Top-ups that wait for their payment, oldest first. They are in no balance. */
  readonly topups: readonly PendingTopUp[];
  /** The last top-ups that have ended, the latest last. */
  readonly ended_topups: readonly EndedTopUp[];
  readonly automatic: AutomaticState;
  readonly reversals: Reversals;
  /** Number of transactions so far. */
  readonly transactions: number;
}

/** Alert levels that were last told of. */
export interface OngoingAlerts {
  readonly alert_state: AlertState;
  /** By id of the feature. */
  readonly features: Readonly<Record<string, AlertState>>;
}

/** Null before it is created. */
export type WalletState = Wallet | null;

/**
 * The next instant at which something happens to the wallet by itself: a lot, a hold or an order ends, or
 * automatic top-up goes on after its breaker. Null while nothing will.
 */
export function nextDue(wallet: WalletState): Instant | null {
  if (!wallet || wallet.wallet_status === 'closed') return null;
  let first = resumesAt(wallet);
  for (const ending of [wallet.lots, wallet.holds, wallet.topups]) {
    for (const { expires_at } of ending) {
      if (expires_at !== null && (first === null || expires_at < first)) first = expires_at;
    }
  }
  return first;
}

/** The instant from which on automatic top-up goes on after its breaker; null unless it waits for that. */
export const resumesAt = (wallet: Wallet): Instant | null =>
  wallet.wallet_status === 'active' && !hasShare(wallet)
    ? resumption(wallet, availableIn(wallet))
    : null;

/** Tells whether a debit of the customer holds credits: its end judges what there is then (D76). */
const hasShare = ({ holds }: Wallet): boolean =>
  holds.some(({ debit_id }) => debit_id !== undefined);

/**
 * Available credits by class: purchased and free add up to a balance that is not below zero. The class with fewer lots is
 * added up, and the other one has what is left: with thousands of lots, of one class as a rule, sums are the dearest part
 * of a request.
 */
export function breakdownOf(wallet: Wallet): { free: DecimalText; purchased: DecimalText } {
  const { lots, holds, credit_balance } = wallet;
  if (lots.length === 0) return { free: zeroText, purchased: zeroText };
  const all = decimal(credit_balance).minus(decimal(takenOut(holds)));
  const purchased = lots.filter((lot) => lot.class === 'purchased');
  const isFewer = purchased.length * 2 < lots.length;
  const counted = sumOf(isFewer ? purchased : lots.filter((lot) => lot.class === 'free'));
  const rest = textOf(all.minus(decimal(counted)));
  return isFewer ? { free: rest, purchased: counted } : { free: counted, purchased: rest };
}

/** Credits that holds have taken out of lots: in the balance, but in no lot. */
const takenOut = (holds: readonly Hold[]): DecimalText =>
  sumOf(holds.flatMap(({ parts }) => parts));

/** The balance in the currency: exactly credits × conversion rate, never stored (D22). */
export const balanceOf = (wallet: Wallet): DecimalText =>
  textOf(decimal(wallet.credit_balance).times(decimal(wallet.conversion_rate)));

/** The credits that can be spent: the balance less holds (D28). Below zero where POST_PAID credits are promised or owed. */
export const availableIn = ({ credit_balance, holds }: Wallet): DecimalText =>
  holds.length === 0
    ? credit_balance
    : textOf(decimal(credit_balance).minus(decimal(heldCredits(holds))));

/**
 * The debt of a wallet: credits taken beyond its lots and holds and not paid back. Its balance may still
 * be above zero while holds are open. A wallet that owes has no lots.
 */
export function debtOf({ lots, holds, credit_balance }: Wallet): DecimalText {
  if (lots.length > 0) return zeroText;
  return textOf(decimal(takenOut(holds)).minus(decimal(credit_balance)));
}

function evolve(state: WalletState, event: Stamped<WalletEvent>): WalletState {
  if (event.type === 'WalletCreated') {
    // From now on currency and rates are the wallet's own.
    const { price_unit: _unit, ...data } = event.data;
    return {
      ...data,
      ...createdStamps(event.stamp),
      wallet_status: 'active',
      alert_state: 'ok',
      ongoing: { alert_state: 'ok', features: {} },
      credit_balance: zeroText,
      holds: [],
      topups: [],
      ended_topups: [],
      automatic: noneAutomatic,
      reversals: noReversals,
      // What changes with every entry comes last: see `often` of a column.
      lots: [],
      transactions: 0,
    };
  }
  return state && evolveWallet({ ...state, ...updatedStamps(event.stamp) }, event);
}

function evolveWallet(
  wallet: Wallet,
  event: Exclude<Stamped<WalletEvent>, { type: 'WalletCreated' }>,
): Wallet {
  switch (event.type) {
    case 'WalletSettingsChanged':
      return withChanges<Wallet>(wallet, event.data);
    case 'CreditsLoaded':
      return evolveLoad(wallet, event.data);
    case 'TopUpRequested': {
      const topups = [...wallet.topups, pendingTopUp(event)];
      return {
        ...wallet,
        topups,
        automatic: afterAutomatic(wallet.automatic, event.data.automatic),
      };
    }
    case 'TopUpFailed':
      return withEndedTopUp(wallet, event.data.transaction_id, 'failed');
    case 'AutomaticTopUpStopped':
      return { ...wallet, automatic: { ...wallet.automatic, stopped_on: event.data.day } };
    case 'CreditsDebited': {
      const { data } = event;
      const lots = afterDebit(wallet.lots, data.drawn, data.effective_at);
      return { ...moved(wallet, data), lots };
    }
    case 'CreditsExpired': {
      const { data } = event;
      return { ...moved(wallet, data), lots: afterDraws(wallet.lots, data.drawn) };
    }
    case 'DebitReversed':
      return evolveReversal(wallet, event.data);
    case 'CreditsHeld':
    case 'HoldChanged':
    case 'HoldCaptured':
    case 'HoldReleased':
      return evolveHolds(wallet, event);
    case 'BulkRecorded':
      return wallet;
    case 'WalletFrozen':
      return { ...wallet, wallet_status: 'frozen' };
    case 'WalletUnfrozen':
      return { ...wallet, wallet_status: 'active' };
    case 'WalletClosed':
      return { ...wallet, wallet_status: 'closed' };
    case 'AlertStateChanged':
      return { ...wallet, alert_state: event.data.after };
    case 'OngoingAlertStateChanged':
      return { ...wallet, ongoing: { ...wallet.ongoing, alert_state: event.data.after } };
    case 'FeatureAlertStateChanged':
      return { ...wallet, ongoing: withFeature(wallet.ongoing, event.data) };
    default:
      return event satisfies never;
  }
}

/** The levels after that of a feature has changed; one that is `ok` again is not remembered. */
function withFeature(
  { features, ...own }: OngoingAlerts,
  { feature_id, after }: { readonly feature_id: string; readonly after: AlertState },
): OngoingAlerts {
  const { [feature_id]: _, ...others } = features;
  return { ...own, features: after === 'ok' ? others : { ...others, [feature_id]: after } };
}

function heldBy({
  data,
  stamp,
}: Stamped<Extract<WalletEvent, { type: 'CreditsHeld' }>>): Omit<Hold, 'parts'> {
  const { hold_id: id, debit_id, invoice_id, credits, expires_at, description, metadata } = data;
  const { created_at, created_by } = createdStamps(stamp);
  const captured = { captured: zeroText, captures: 0 };
  const hold = { id, credits, expires_at, description, metadata, created_at, created_by };
  return {
    ...hold,
    ...captured,
    ...(debit_id === undefined ? {} : { debit_id }),
    ...(invoice_id === undefined ? {} : { invoice_id }),
  };
}

type HoldEvent = Extract<
  WalletEvent,
  { type: 'CreditsHeld' | 'HoldChanged' | 'HoldCaptured' | 'HoldReleased' }
>;

function evolveHolds(wallet: Wallet, event: Stamped<HoldEvent>): Wallet {
  if (event.type === 'CreditsHeld') {
    const { drawn, debit_effective_at: since = event.stamp.occurred_at } = event.data;
    const hold = holdFrom(wallet.lots, heldBy(event), drawn);
    // Nothing but a share of a debit that is dated back takes of what a lot had kept from before.
    const lots = afterDebit(wallet.lots, drawn, since);
    return {
      ...wallet,
      lots,
      holds: [...wallet.holds, hold],
    };
  }
  const { hold_id, returned } = event.data;
  const hold = wallet.holds.find(({ id }) => id === hold_id);
  invariant(hold, `${wallet.id}: hold ${hold_id} ended twice`);
  const back = withReturned(wallet.lots, partsReturned(wallet.lots, hold, returned));
  const lots = event.type === 'HoldReleased' ? back : afterDraws(back, event.data.drawn);
  const after = holdAfterEvent(wallet.lots, hold, event);
  const holds = wallet.holds.flatMap((other) => (other === hold ? after : [other]));
  const changed = { ...wallet, lots, holds };
  return event.type === 'HoldCaptured' ? moved(changed, event.data) : changed;
}

/** The hold after an event of it; none when that has ended it. */
function holdAfterEvent(
  lots: readonly Lot[],
  hold: Hold,
  event: Exclude<HoldEvent, { type: 'CreditsHeld' }>,
): readonly Hold[] {
  if (event.type === 'HoldReleased') return [];
  if (event.type === 'HoldCaptured') {
    return event.data.is_final ? [] : [afterCapture(hold, event.data.credits)];
  }
  const { credits, expires_at, parts, drawn } = event.data;
  const more = holdFrom(lots, hold, drawn).parts;
  const after = holdFrom([...hold.parts, ...more], hold, parts);
  return [{ ...after, parts: countedTogether(after.parts, more), credits, expires_at }];
}

/**
 * The parts of a hold to which more was added: what is one part counts from the later instant, and expires with its
 * lot as it was now, whose expiry a reversal may have renewed (D42).
 */
const countedTogether = (parts: readonly Lot[], more: readonly Lot[]): readonly Lot[] =>
  parts.map((part) => {
    const added = more.find(({ transaction_id }) => transaction_id === part.transaction_id);
    if (!added) return part;
    const { effective_at, expires_at } = added;
    return { ...part, expires_at, effective_at: laterOf(part.effective_at, effective_at) };
  });

const moved = (
  wallet: Wallet,
  entry: { readonly credit_balance_after: DecimalText; readonly sequence: number },
): Wallet => ({
  ...wallet,
  credit_balance: entry.credit_balance_after,
  transactions: entry.sequence,
});

function evolveLoad(
  wallet: Wallet,
  load: Extract<WalletEvent, { type: 'CreditsLoaded' }>['data'],
): Wallet {
  const after = { ...moved(wallet, load), lots: withLoad(wallet.lots, load) };
  // One that was ordered has counted since then.
  if (load.requested) return withEndedTopUp(after, load.transaction_id, 'completed');
  return { ...after, automatic: afterAutomatic(wallet.automatic, load.automatic) };
}

function evolveReversal(
  wallet: Wallet,
  reversal: Extract<WalletEvent, { type: 'DebitReversed' }>['data'],
): Wallet {
  const { reverses: transaction_id, reversed } = reversal;
  const own = ownLot(reversal);
  const { effective_at: at } = reversal;
  const returned = reversal.returned.map(({ credits: _, ...lot }): Lot => {
    const open = wallet.lots.find(({ transaction_id: id }) => id === lot.transaction_id);
    if (!open) return { ...lot, effective_at: at };
    return { ...lot, effective_at: open.effective_at, ...refilledAt(open, at) };
  });
  const lots = withReturned(wallet.lots, returned);
  return {
    ...moved(wallet, reversal),
    lots: own.remaining === '0' ? lots : withLot(lots, own),
    reversals: withReversal(wallet.reversals, { transaction_id, reversed }),
  };
}

const withEndedTopUp = (
  wallet: Wallet,
  transaction_id: TransactionId,
  transaction_status: EndedTopUp['transaction_status'],
): Wallet => ({
  ...wallet,
  topups: withoutTopUp(wallet.topups, transaction_id),
  ended_topups: withEnd(wallet.ended_topups, { transaction_id, transaction_status }),
});

function withLoad(
  lots: readonly Lot[],
  load: Extract<WalletEvent, { type: 'CreditsLoaded' }>['data'],
): readonly Lot[] {
  if (decimal(load.credits_available).cmp(zero) <= 0) return lots;
  return withLot(lots, lotOfLoad(load));
}

/** The unique value by which a waiting top-up leads to its wallet. */
export const topUpClaim = 'transaction_id';

const claimOf = ({ transaction_id: value }: PendingTopUp) => ({
  name: topUpClaim,
  value,
  problem: `Transaction ${value} exists already.`,
});

export const wallet = aggregate({
  name: 'wallet',
  scope: 'environment',
  events: walletEvents,
  kept: keptEntries,
  initial: null as WalletState,
  evolve,
  /**
   * One wallet that is not closed per customer, currency and type, but for those that may stand beside others
   * (D21). And one wallet for each top-up
   * that waits, so that its completion finds the wallet by the log.
   */
  refersTo: (state) =>
    !state || state.wallet_status === 'closed'
      ? []
      : [
          {
            category: 'customer',
            id: state.customer_id,
            what: 'customer',
            // Money that is owed follows its customer, also out of use.
            ...(state.is_owed ? { follows: true } : {}),
          },
        ],
  unique: (state) => {
    if (!state || state.wallet_status === 'closed') return [];
    const { customer_id, currency, wallet_type } = state;
    const claims = state.topups.map(claimOf);
    if (state.allow_multiple) return claims;
    const slot = {
      name: 'customer_id, currency, wallet_type',
      value: `${customer_id}/${currency}/${wallet_type}`,
      problem: `The customer already has a ${wallet_type} wallet in ${currency}.`,
    };
    return [slot, ...claims];
  },
});

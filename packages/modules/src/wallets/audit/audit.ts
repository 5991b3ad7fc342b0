import type { HistoryEvent, RequestContext } from '@counterfoil/engine/define';
import {
  decimal,
  type Instant,
  instantOf,
  millisecondsOf,
  notFound,
  textOf,
} from '@counterfoil/kernel';
import type { WalletEvent } from '../events.ts';
import { inDrawOrder, isExpired, type Lot } from '../ledger/lots.ts';
import { effectiveAt } from '../ledger/times.ts';
import { isMovement, type MovementEvent } from '../ledger/transaction.ts';
import { type Wallet, type WalletState, wallet } from '../wallet.ts';
import type { BalanceAnswer, Explanation, LedgerPage, LedgerQuery } from './schema.ts';
import { balanceAdder } from './time-travel.ts';

/** The wallet from the log. Throws 404. */
async function loadWallet(context: RequestContext, id: string): Promise<Wallet> {
  const state = await context.load(wallet, id);
  if (!state) throw notFound('wallet', id);
  return state;
}

/**
 * The content of a wallet at `asOf`, as far as the log knew it at `knownAt`, down to its lots. Both
 * default to now. Reads the whole history of the wallet.
 */
export async function balanceAt(
  context: RequestContext,
  id: string,
  query: { readonly as_of?: Instant | undefined; readonly known_at?: Instant | undefined },
): Promise<BalanceAnswer> {
  const state = await loadWallet(context, id);
  const asOf = query.as_of ?? latest(context, state);
  const knownAt = query.known_at ?? latest(context, state);
  const adder = balanceAdder(asOf, knownAt);
  for await (const event of context.history(wallet, id)) adder.take(event);
  const { credit_balance, credits_held, lots, events } = adder.result();
  return {
    wallet_id: id,
    as_of: asOf,
    known_at: knownAt,
    credit_balance,
    credits_held,
    balance: textOf(decimal(credit_balance).times(decimal(state.conversion_rate))),
    currency: state.currency,
    lots: lots.map(shownLot),
    events,
  };
}

/** Now, or the instant of the wallet's last event when the clock that stamped it was ahead. */
const latest = (context: RequestContext, state: Wallet): Instant =>
  instantOf(Math.max(millisecondsOf(context.now), millisecondsOf(state.updated_at)));

const shownLot = (lot: Lot) => ({
  transaction_id: lot.transaction_id,
  credits: lot.remaining,
  class: lot.class,
  ...(lot.priority === null ? {} : { priority: lot.priority }),
  ...(lot.expires_at === null ? {} : { expires_at: lot.expires_at }),
});

/** A page of the wallet's events as they stand in the log, in the order of the log. */
export async function ledgerPage(
  context: RequestContext,
  id: string,
  { after_revision, limit }: LedgerQuery,
): Promise<LedgerPage> {
  await loadWallet(context, id);
  const items: LedgerPage['items'] = [];
  const from = after_revision === undefined ? 0 : after_revision + 1;
  for await (const event of context.history(wallet, id, { from, maximum: limit })) {
    items.push(ledgerItem(event));
  }
  return { items, next_after_revision: items.at(-1)?.revision ?? after_revision ?? -1 };
}

function ledgerItem(event: HistoryEvent<WalletEvent>): LedgerPage['items'][number] {
  const movement = isMovement(event) ? event.data : null;
  return {
    revision: event.revision,
    position: event.position,
    event_id: event.event_id,
    type: event.type,
    data: event.data,
    occurred_at: event.stamp.occurred_at,
    effective_at: effectiveAt(event),
    actor: event.stamp.actor,
    hash: event.hash,
    previous_hash: event.previous_hash,
    ...(movement
      ? {
          credit_balance_before: movement.credit_balance_before,
          credit_balance_after: movement.credit_balance_after,
        }
      : {}),
  };
}

/** The reasons why an entry drew from its lots. Throws 404 for an unknown entry. */
export async function explain(
  context: RequestContext,
  id: string,
  transactionId: string,
): Promise<Explanation> {
  await loadWallet(context, id);
  let state: WalletState = wallet.initial;
  for await (const event of context.history(wallet, id)) {
    if (state && isMovement(event) && event.data.transaction_id === transactionId) {
      return explanationOf(state, event);
    }
    state = wallet.evolve(state, event);
  }
  throw notFound('transaction', transactionId, 'transaction_id');
}

function explanationOf(before: Wallet, event: HistoryEvent<MovementEvent>): Explanation {
  const { data, stamp } = event;
  const drawn = 'drawn' in data ? data.drawn : [];
  const draw = new Map(drawn.map((part) => [part.transaction_id, part.credits]));
  const hold =
    event.type === 'HoldCaptured'
      ? before.holds.find(({ id }) => id === event.data.hold_id)
      : undefined;
  const parts = hold?.parts ?? [];
  const others = before.lots.filter(
    (lot) =>
      !hold ||
      (draw.has(lot.transaction_id) &&
        !parts.some(({ transaction_id }) => transaction_id === lot.transaction_id)),
  );
  const lots = [...parts, ...others].sort(inDrawOrder);
  return {
    transaction_id: data.transaction_id,
    revision: event.revision,
    occurred_at: stamp.occurred_at,
    credits: data.credits,
    rule: ruleOf(event),
    lots: lots.map((lot, index) => ({
      rank: index + 1,
      ...shownLot(lot),
      credits_before: lot.remaining,
      credits_drawn: draw.get(lot.transaction_id) ?? '0',
      expired: isExpired(lot, stamp.occurred_at),
    })),
  };
}

function ruleOf(event: MovementEvent): string {
  switch (event.type) {
    case 'CreditsLoaded':
      return 'A load draws from nothing; it is a lot of its own.';
    case 'CreditsExpired':
      return 'The lot had reached its expiry instant; what was left of it is booked out.';
    case 'HoldCaptured':
      return (
        'A capture draws from the lots that the hold had set aside, in draw-down order; what the ' +
        'hold promised beyond them comes out of the other lots.'
      );
    case 'CreditsDebited':
      return (
        'Priority ascending (none last), expiry ascending (none last), free before purchased, ' +
        'oldest first, until the credits are reached; expired lots never.'
      );
    default:
      return event satisfies never;
  }
}

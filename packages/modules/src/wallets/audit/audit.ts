import type { ChainLink, HistoryEvent, RequestContext } from '@counterfoil/engine/define';
import {
  decimal,
  type Instant,
  instantOf,
  invalidField,
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
export async function loadWallet(context: RequestContext, id: string): Promise<Wallet> {
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
  const now = latest(context, state);
  const { as_of: asOf = now, known_at: knownAt = now } = query;
  assertNotAhead(asOf, now, '/as_of');
  assertNotAhead(knownAt, now, '/known_at');
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

/** Refuses an instant that has not come: lots would be shown that may be spent or gone by then. */
export function assertNotAhead(instant: Instant, now: Instant, pointer: string): void {
  if (instant > now) throw invalidField(pointer, `must not lie in the future: it is ${now}`);
}

/** Now, or the instant of the wallet's last event when the clock that stamped it was ahead. */
export const latest = (context: RequestContext, state: Wallet): Instant =>
  instantOf(Math.max(millisecondsOf(context.now), millisecondsOf(state.updated_at)));

const shownLot = (lot: Lot) => ({
  transaction_id: lot.transaction_id,
  credits: lot.remaining,
  class: lot.class,
  ...(lot.priority === null ? {} : { priority: lot.priority }),
  ...(lot.expires_at === null ? {} : { expires_at: lot.expires_at }),
});

/** A page of everything in the wallet's stream, in the order of the log: no link of its chain is missing. */
export async function ledgerPage(
  context: RequestContext,
  id: string,
  { after_revision, limit }: LedgerQuery,
): Promise<LedgerPage> {
  await loadWallet(context, id);
  const items: LedgerPage['items'] = [];
  const from = after_revision === undefined ? 0 : after_revision + 1;
  for await (const link of context.chain(wallet, id, { from, maximum: limit })) {
    items.push(ledgerItem(link));
  }
  return { items, next_after_revision: items.at(-1)?.revision ?? after_revision ?? -1 };
}

type LedgerItem = LedgerPage['items'][number];

function ledgerItem(link: ChainLink<WalletEvent>): LedgerItem {
  if (link.kind === 'kept') {
    const { event } = link;
    const kind = keptKinds[event.type] ?? 'kept';
    return { kind, ...linkOf(event), effective_at: event.stamp.occurred_at };
  }
  const { event } = link;
  const item = { kind: 'event' as const, ...linkOf(event), effective_at: effectiveAt(event) };
  if (!isMovement(event)) return item;
  const { credit_balance_before, credit_balance_after } = event.data;
  return { ...item, credit_balance_before, credit_balance_after };
}

/** The kinds of items that the engine keeps of requests, by the type of its event. */
const keptKinds: Readonly<Record<string, LedgerItem['kind']>> = {
  RequestRefused: 'refused_request',
  RequestWithoutEffect: 'request_without_effect',
};

const linkOf = (event: HistoryEvent<{ readonly type: string; readonly data: unknown }>) => ({
  revision: event.revision,
  position: event.position,
  event_id: event.event_id,
  type: event.type,
  data: event.data as LedgerItem['data'],
  occurred_at: event.stamp.occurred_at,
  actor: event.stamp.actor,
  hash: event.hash,
  previous_hash: event.previous_hash,
});

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
  const others = before.lots.filter((lot) => {
    if (!hold) return lot.effective_at <= data.effective_at || draw.has(lot.transaction_id);
    const isPart = parts.some(({ transaction_id }) => transaction_id === lot.transaction_id);
    return draw.has(lot.transaction_id) && !isPart;
  });
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
    case 'DebitReversed':
      return 'A reversal draws from nothing; it gives credits back to the lots of another entry, the last drawn first.';
    case 'CreditsExpired':
      return 'The lot had reached its expiry instant; what was left of it is booked out.';
    case 'HoldCaptured':
      return (
        'A capture draws from the lots that the hold had set aside, in draw-down order; what the ' +
        'hold promised beyond them comes out of the other lots.'
      );
    case 'CreditsDebited':
      if (event.data.takes_back !== undefined) {
        return 'The purchase of which this lot is the bonus was refunded: what is left of it is taken back where it lies.';
      }
      return (
        'Priority ascending (none last), expiry ascending (none last), free before purchased, ' +
        'oldest first, until the credits are reached; expired lots never, and of a debit that is ' +
        'dated back first the lots that counted at its effective_at.'
      );
    default:
      return event satisfies never;
  }
}

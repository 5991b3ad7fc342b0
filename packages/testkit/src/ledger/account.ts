import { isDeepStrictEqual } from 'node:util';
import * as assert from 'uvu/assert';
import { checkReplay, entryEffect, entryIn, isConflictOf } from './answers.ts';
import { Replay } from './checks/replay.ts';
import { type Asked, type Face, type Outcome, outcomeOf } from './debit-rules.ts';
import { effectOf, entryNumbers } from './effects.ts';
import type { CustomerExchange, LedgerAnswer } from './exchange.ts';
import { type Data, type Group, type HistoryEvent, isIdle } from './history.ts';
import { isTooEarly } from './linearise.ts';
import type { SharePart } from './shares.ts';
import {
  allExchanges,
  type CustomerStory,
  debitRequests,
  inLogOrder,
  type Piece,
} from './together.ts';
import { amountPlaces, creditsOf, ratePlaces, shownCredits, shownUnits, unitsOf } from './units.ts';

/** The debits over the wallets of a customer, as far as their ledgers have to know. */
export interface Account {
  /** For each wallet the parts that it had in debits, by the revision of their first event. */
  readonly shares: readonly ReadonlyMap<number, SharePart>[];
  /** True when something else was asked for while a debit was under way, or time went by. */
  readonly isInterrupted: boolean;
}

/** The part of a wallet in a debit, and the entry that it has become. */
interface Share {
  readonly wallet: number;
  /** The id of the hold; null for the wallet that paid the rest. */
  readonly hold: string | null;
  readonly credits: bigint;
  entry: HistoryEvent | null;
}

/** A debit on its way. */
interface Debit {
  readonly id: string;
  /** The id of the event that asks for it, which its parts have as their cause. */
  readonly requested: string;
  /** The time at which it was asked for. */
  readonly at: number;
  readonly exchange: CustomerExchange;
  readonly asked: Asked;
  readonly plan: readonly number[];
  readonly refilling: readonly number[];
  missing: bigint;
  /** Wallets that were asked, as many of the plan. */
  count: number;
  readonly shares: Share[];
  isPaid: boolean;
  readonly ended: Set<number>;
  end: HistoryEvent | null;
}

/**
 * Explains the debits over the wallets of a customer (D76), all or nothing: which wallets are asked, in which order
 * and for what; that nothing is taken before one has paid all that is missing, and that all is given back when
 * none can; and that every answer says so. What each wallet does with its part is for its own ledger to explain.
 * Throws an assertion otherwise.
 */
export function explainDebits(story: CustomerStory): Account {
  const reading = new Reading(story);
  for (const piece of inLogOrder(story)) reading.take(piece);
  return reading.account();
}

/** A wallet as it was from a place in the log on. */
interface Snapshot {
  readonly from: bigint;
  readonly face: Face;
}

class Reading {
  readonly #story: CustomerStory;
  readonly #requests: ReadonlySet<string>;
  readonly #replays: readonly Replay[];
  readonly #snapshots: readonly Snapshot[][];
  readonly #shares: readonly Map<number, SharePart>[];
  readonly #debits = new Map<string, Debit>();
  readonly #waiting: Debit[] = [];
  /** The first and the last place of each request that left events. */
  readonly #places = new Map<string, { readonly first: bigint; readonly last: bigint }>();
  #isInterrupted: boolean;

  constructor(story: CustomerStory) {
    this.#story = story;
    this.#requests = debitRequests(story.debits);
    const all = allExchanges(story);
    this.#isInterrupted = story.debits.exchanges.some((debit) =>
      all.some(
        (each) => each.sent < debit.answered && each.answered > debit.sent && each !== debit,
      ),
    );
    this.#replays = story.wallets.map(() => new Replay());
    this.#snapshots = story.wallets.map(() => []);
    this.#shares = story.wallets.map(() => new Map<number, SharePart>());
    for (const { group } of inLogOrder(story)) {
      const { correlation, events } = group;
      // The service may find that it has nothing to do long after the request was answered.
      if (events.every(isIdle)) continue;
      const [first, last] = [events[0]?.position ?? 0n, events.at(-1)?.position ?? 0n];
      const known = this.#places.get(correlation);
      this.#places.set(correlation, { first: known?.first ?? first, last });
    }
  }

  take({ wallet, group }: Piece): void {
    if (wallet === null) {
      this.#takeOwn(group);
      return;
    }
    if (this.#requests.has(group.correlation) && !this.#isAside(group))
      this.#takeShare(wallet, group);
    const replay = this.#replays[wallet] as Replay;
    for (const event of group.events) replay.take(event);
    const from = group.events.at(-1)?.position ?? 0n;
    this.#snapshots[wallet]?.push({ from, face: faceOf(replay, wallet) });
  }

  account(): Account {
    const { exchanges } = this.#story.debits;
    const isAnswered = exchanges.every(({ answer }) => answer && answer.status < 500);
    if (isAnswered) assert.is(this.#waiting.length, 0, 'a debit has no end');
    for (const exchange of exchanges) this.#explainAnswer(exchange);
    return { shares: this.#shares, isInterrupted: this.#isInterrupted };
  }

  /** True where the service found that it had nothing to do to a wallet because of what a debit led to, and not for the debit. */
  #isAside({ correlation, events }: Group): boolean {
    const requested = this.#debits.get(correlation)?.requested;
    return events.every((event) => isIdle(event) && event.metadata.$causationId !== requested);
  }

  /** A wallet's part: it is asked once, in its turn, and gives or gets back once what it has set aside. */
  #takeShare(wallet: number, { events, at }: Group): void {
    const [debit] = this.#waiting;
    const first = events[0] as HistoryEvent;
    if (debit?.at !== at) this.#isInterrupted = true;
    assert.ok(debit, `wallet ${wallet}, revision ${first.revision}: a part of no debit`);
    const shares = this.#shares[wallet] as Map<number, SharePart>;
    const { reason, from } = debit.asked;
    if (!debit.isPaid && debit.plan[debit.count] === wallet) {
      shares.set(first.revision, { kind: 'take', missing: debit.missing, reason, from });
      debit.count += 1;
      this.#noteShare(debit, wallet, events);
      return;
    }
    const what = `${debit.id} in wallet ${wallet}`;
    assert.not.ok(debit.ended.has(wallet), `${what} ends twice`);
    debit.ended.add(wallet);
    const share = debit.shares.find((each) => each.wallet === wallet);
    const hold = share?.hold ?? null;
    if (!isTaken(debit)) {
      assert.ok(isRefused(debit), `${what} is given up before all were asked`);
      shares.set(first.revision, { kind: 'give-up', hold, from });
      return;
    }
    assert.ok(share && hold !== null, `${what} takes what was not set aside`);
    shares.set(first.revision, { kind: 'capture', hold, reason, from });
    share.entry = events.find(({ type }) => type === 'HoldCaptured') ?? null;
  }

  #noteShare(debit: Debit, wallet: number, events: readonly HistoryEvent[]): void {
    const paid = events.find(({ type }) => type === 'CreditsDebited');
    const held = events.find(({ type }) => type === 'CreditsHeld');
    const made = paid ?? held;
    if (!made) return;
    const credits = creditsOf(made.data.credits);
    const named = paid ? paid.data.reference_id : held?.data.debit_id;
    assert.is(named, debit.id, 'a part names another debit');
    debit.shares.push({
      wallet,
      hold: paid ? null : held?.data.hold_id,
      credits,
      entry: paid ?? null,
    });
    debit.missing -= credits * this.#rateOf(wallet);
    if (paid) debit.isPaid = true;
  }

  #rateOf(wallet: number): bigint {
    return unitsOf((this.#replays[wallet] as Replay).created.conversion_rate, ratePlaces);
  }

  /** The log of the debits themselves. */
  #takeOwn({ correlation, events }: Group): void {
    const exchange = this.#story.debits.exchanges.find(
      ({ requestId }) => requestId === correlation,
    );
    assert.ok(exchange, `a debit that nobody has asked for: ${correlation}`);
    for (const event of events) {
      if (event.type === 'DebitRequested') this.#begin(event, exchange);
      else if (event.type === 'RequestRefused') this.#explainRefusal(event, exchange);
      else this.#end(event);
    }
  }

  #begin(event: HistoryEvent, exchange: CustomerExchange): void {
    const { data } = event;
    const { body, customer } = exchange.command;
    const outcomes = this.#outcomes(exchange, event.position ?? 0n);
    const seen = {
      wallets: data.wallets,
      refilling: data.refilling,
      amount: String(unitsOf(data.amount, amountPlaces)),
    };
    const right = outcomes.find(
      (each) => each.kind === 'begun' && JSON.stringify(this.#shown(each)) === JSON.stringify(seen),
    );
    if (right?.kind !== 'begun') fail(`the plan ${said(seen)} fits none of ${said(outcomes)}`);
    assert.equal(
      [data.customer_id, data.currency, data.credits, data.effective_at],
      [customer, body.currency, body.credits ?? null, body.effective_at],
      'a debit says what was asked for',
    );
    const { asked, plan, refilling } = right;
    const debit: Debit = {
      id: data.debit_id,
      requested: event.id,
      at: Date.parse(event.metadata.occurred_at),
      exchange,
      asked,
      plan,
      refilling,
      missing: asked.amount,
      count: 0,
      shares: [],
      isPaid: false,
      ended: new Set(),
      end: null,
    };
    this.#debits.set(exchange.requestId, debit);
    this.#waiting.push(debit);
  }

  /** A plan as the log has it. */
  #shown({ plan, refilling, asked }: Extract<Outcome, { kind: 'begun' }>) {
    const idOf = (wallet: number) => this.#story.wallets[wallet]?.walletId;
    return {
      wallets: plan.map(idOf),
      refilling: refilling.map(idOf),
      amount: String(asked.amount),
    };
  }

  #explainRefusal({ data, position = 0n }: HistoryEvent, exchange: CustomerExchange): void {
    const outcomes = this.#outcomes(exchange, position);
    const isRight = outcomes.some((each) => saysSo(each, data.details) && each.isRemembered);
    if (!isRight) fail(`${said(data.details)} is kept, and none of ${said(outcomes)}`);
    assert.is.not(exchange.key, null, 'a refusal that nobody has to keep');
  }

  #end(event: HistoryEvent): void {
    const { type, data } = event;
    const [debit] = this.#waiting;
    assert.is(data.debit_id, debit?.id, `${type} of a debit whose turn it is not`);
    if (!debit) return;
    this.#waiting.shift();
    debit.end = event;
    const ended = [...debit.ended].toSorted((a, b) => a - b);
    const holding = debit.shares.flatMap(({ wallet, hold }) => (hold === null ? [] : [wallet]));
    if (type === 'DebitRefused') {
      assert.ok(isRefused(debit), 'refused before all were asked');
      const concerned = new Set([...holding, ...debit.refilling]);
      assert.equal(
        ended,
        [...concerned].toSorted((a, b) => a - b),
        'all is given back',
      );
      assert.equal(data.available, this.#totals(debit), 'what the wallets had');
      return;
    }
    assert.is(type, 'DebitCompleted');
    assert.ok(isTaken(debit), 'complete without being paid');
    assert.equal(
      ended,
      holding.toSorted((a, b) => a - b),
      'all that was set aside is taken',
    );
    const { amount, credits, entries } = data;
    assert.equal({ amount, credits }, this.#totals(debit), 'the sums of the entries');
    const right = debit.shares.map(({ wallet, entry }) => ({
      wallet_id: this.#story.wallets[wallet]?.walletId,
      transaction_id: entry?.data.transaction_id,
      credits: entry?.data.credits,
      amount: entry?.data.amount,
      revision: entry?.revision,
    }));
    assert.equal(entries, right, 'one entry of each wallet drawn');
    const taken = unitsOf(amount, amountPlaces);
    assert.ok(
      debit.asked.isPartial || taken >= debit.asked.amount,
      'less is taken than was asked for',
    );
  }

  #totals({ shares }: Debit): { readonly amount: string; readonly credits: string } {
    const amount = shares.reduce(
      (sum, { wallet, credits }) => sum + credits * this.#rateOf(wallet),
      0n,
    );
    const credits = shares.reduce((sum, share) => sum + share.credits, 0n);
    return { amount: shownUnits(amount, amountPlaces), credits: shownCredits(credits) };
  }

  /** All that the rules may say, given what the wallets can have been from the sending on to a place in the log. */
  #outcomes(exchange: CustomerExchange, before: bigint): Outcome[] {
    const from = allExchanges(this.#story)
      .filter(({ answer, answered }) => (answer?.status ?? 500) < 500 && answered < exchange.sent)
      .map(({ requestId }) => this.#places.get(requestId)?.last ?? 0n)
      .reduce((most, place) => (place > most ? place : most), 0n);
    const choices = this.#snapshots.map((snapshots) => {
      const first = snapshots.findLastIndex((snapshot) => snapshot.from <= from);
      const inReach = snapshots.filter(
        (snapshot, index) => index >= Math.max(first, 0) && snapshot.from < before,
      );
      const faces = new Map(inReach.map(({ face }) => [said(face), face]));
      return [...faces.values()];
    });
    return combinations(choices).map((faces) => outcomeOf(exchange.command.body, faces));
  }

  #explainAnswer(exchange: CustomerExchange): void {
    const { answer, command, requestId } = exchange;
    if (!answer || answer.status >= 500) return;
    const what = () => `${said(command)} was answered ${said(answer.body)}`;
    const first = this.#firstOfKey(exchange);
    if (first && first !== exchange) {
      if (isConflictOf(exchange, first)) return;
      const isAgain = checkReplay(exchange, first);
      // Before the key had its effect it may have been refused in a way that nobody keeps.
      if (!isAgain && first.answered < exchange.sent) fail(`${what()}, and not as before`);
      if (isAgain && !this.#debits.has(first.requestId)) return;
      if (isAgain) {
        this.#explainEnd(first, answer, what());
        return;
      }
    }
    if (isTooEarly(exchange)) return;
    if (this.#debits.has(requestId)) this.#explainEnd(exchange, answer, what());
    else if (!this.#mayRefuse(exchange, answer)) fail(what());
  }

  /** The request that had the effect of a key; undefined for none. */
  #firstOfKey({ key }: CustomerExchange): CustomerExchange | undefined {
    if (key === null) return undefined;
    return this.#story.debits.exchanges.find(
      (other) => other.key === key && this.#places.has(other.requestId),
    );
  }

  #explainEnd({ requestId }: CustomerExchange, answer: LedgerAnswer, what: string): void {
    const debit = this.#debits.get(requestId) as Debit;
    assert.equal(seenIn(answer), this.#right(debit, seenIn(answer)), what);
  }

  /** Tells whether some state of the wallets refuses a debit before it is begun, as it was answered. */
  #mayRefuse(exchange: CustomerExchange, { status, body }: LedgerAnswer): boolean {
    const { key, requestId, answered } = exchange;
    const later = allExchanges(this.#story)
      .filter(({ sent }) => sent > answered)
      .flatMap((other) => this.#places.get(other.requestId)?.first ?? [])
      .reduce((least, place) => (place < least ? place : least), 2n ** 63n);
    const isKept = this.#places.has(requestId);
    const right = this.#outcomes(exchange, later).some(
      (each) => saysSo(each, body.details) && (isKept || key === null || !each.isRemembered),
    );
    return right && status === 400;
  }

  /** The answer that the end of a debit leads to. */
  #right(debit: Debit, seen: Data): Data {
    const { end, asked, exchange } = debit;
    assert.ok(end, `${debit.id} was answered before its end`);
    const { body, customer } = exchange.command;
    const requested = body.credits ?? body.amount;
    const totals = this.#totals(debit);
    if (end.type === 'DebitRefused') {
      const available = body.credits === undefined ? totals.amount : totals.credits;
      const { effective_at } = body;
      const details =
        effective_at === undefined
          ? { reason: 'insufficient_credits', available, requested }
          : { reason: 'insufficient_credits_then', available, requested, effective_at };
      return { status: 400, code: 'invalid_operation', details };
    }
    const rows = debit.shares.map(({ wallet, entry }) => {
      const { walletId = '', history = [] } = this.#story.wallets[wallet] ?? {};
      const numbers = entryNumbers(history);
      const shown = seen.rows.find((row: Data) => row.wallet_id === walletId)?.shown ?? {};
      const right = entry ? entryEffect(effectOf(entry, numbers)) : {};
      assert.equal(entryIn(shown, numbers), right, `the entry of ${walletId}`);
      assert.equal([shown.reference_type, shown.reference_id], ['REQUEST', debit.id]);
      return { wallet_id: walletId, shown };
    });
    const { currency } = body;
    const missing = asked.isPartial ? { requested, missing: missingOf(debit, totals) } : {};
    return {
      status: 200,
      id: debit.id,
      customer_id: customer,
      currency,
      ...totals,
      ...missing,
      rows,
    };
  }
}

const isRefused = (debit: Debit): boolean =>
  !debit.isPaid && debit.count === debit.plan.length && !isTaken(debit);

/** Tells whether a debit is committed: one has paid the rest, or all were asked of one that may be partial. */
const isTaken = ({ isPaid, asked, count, plan, shares }: Debit): boolean =>
  isPaid || (asked.isPartial && count === plan.length && shares.length > 0);

/** The part of a debit that was not taken, in money or credits as it was asked for. */
function missingOf({ exchange }: Debit, totals: { amount: string; credits: string }): string {
  const { credits, amount = '0' } = exchange.command.body;
  const [asked, taken] =
    credits === undefined ? [amount, totals.amount] : [credits, totals.credits];
  const left = unitsOf(asked, amountPlaces) - unitsOf(taken, amountPlaces);
  return shownUnits(left > 0n ? left : 0n, amountPlaces);
}

/** The part of an answer that the rules determine. */
function seenIn({ status, body }: { readonly status: number; readonly body: Data }): Data {
  if (status !== 200) return { status, code: body.code, details: body.details };
  const { id, customer_id, currency, amount, credits, requested, missing, transactions } = body;
  const partial = requested === undefined ? {} : { requested, missing };
  const rows = transactions.map((shown: Data) => ({ wallet_id: shown.wallet_id, shown }));
  return { status, id, customer_id, currency, amount, credits, ...partial, rows };
}

const faceOf = (replay: Replay, wallet: number): Face => ({
  wallet,
  id: replay.created.id,
  isActive: replay.status === 'active',
  mayOwe: replay.created.wallet_type === 'POST_PAID',
  hasCredits: replay.balance > 0n,
  refills: replay.autoTopUp?.enabled === true,
  priority: replay.priority,
  rate: unitsOf(replay.created.conversion_rate, ratePlaces),
  createdAt: replay.createdAt,
});

/** Every choice of one of each. */
const combinations = <Item>(choices: readonly (readonly Item[])[]): Item[][] =>
  choices.reduce<Item[][]>(
    (rows, items) => rows.flatMap((row) => items.map((item) => [...row, item])),
    [[]],
  );

const said = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each));

function fail(message: string): never {
  throw new Error(message);
}

type Refusal = Extract<Outcome, { kind: 'refused' }>;
const saysSo = (outcome: Outcome, details: unknown): outcome is Refusal =>
  outcome.kind === 'refused' && isDeepStrictEqual(outcome.details, details);

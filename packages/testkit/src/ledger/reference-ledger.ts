import {
  type Automatic,
  available,
  type Books,
  copied,
  type Draw,
  debt,
  draws,
  type Hold,
  inOrder,
  type Lot,
  type Order,
  perLot,
  putBack,
  setAside,
  spendable,
  take,
  takeFromKept,
  takeSince,
  thereSince,
  total,
} from './books.ts';
import {
  assertLoadable,
  ending,
  isOver,
  type Load,
  Refused,
  shortage,
  shownInstant,
} from './refusals.ts';
import { amountPlaces, creditsOf, ratePlaces, shownCredits, shownUnits, unitsOf } from './units.ts';

/** An event as the oracle foresees it: its type and every figure that the rules determine. */
export interface Effect {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The terms of a wallet, set once and for all when it is made. */
export interface Terms {
  readonly mayOwe: boolean;
  readonly rate: string;
  readonly topUpRate: string;
}

const purchases = ['PURCHASED_CREDIT_DIRECT', 'PURCHASED_CREDIT_INVOICED'];

/** Keeps the books of one wallet: the movements, whatever asked for them. */
export class ReferenceLedger {
  books: Books = {
    created: 0,
    status: 'active',
    alert: 'ok',
    levels: [],
    settings: {},
    balance: 0n,
    entries: 0,
    lots: [],
    holds: [],
    orders: [],
    ended: {},
    known: {},
    taken: {},
    autoTopUp: null,
    day: null,
    count: 0,
    stoppedOn: null,
  };
  /** Ids that orders get, in their order: the oracle cannot know the ids of the service. */
  orderIds: string[] = [];
  /** The moment of the command that is being done. */
  now = 0;
  /** The effects since the list was last emptied. */
  effects: Effect[] = [];
  readonly rate: bigint;
  readonly topUpRate: bigint;
  readonly mayOwe: boolean;

  constructor({ mayOwe, rate, topUpRate }: Terms) {
    this.rate = unitsOf(rate, ratePlaces);
    this.topUpRate = unitsOf(topUpRate, ratePlaces);
    this.mayOwe = mayOwe;
  }

  /** Does work; when it is refused, nothing of it has happened. Returns the refusal. */
  attempt(work: () => void): Refused | null {
    const before = copied(this.books);
    const told = this.effects.length;
    try {
      work();
      return null;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.books = before;
      this.effects.length = told;
      return error;
    }
  }

  /** Loads credits as a lot of their own, after the debt is paid. */
  load(load: Load, at: number, automatic: Automatic | null = null): void {
    assertLoadable(load, at);
    this.#assertExisted(load.from ?? at);
    const amount = this.amountOf(load);
    this.lot({ ...load, amount, automatic }, null, load.from ?? at);
  }

  /**
   * Returns what is paid for credits: the amount that was given, else their worth at the top-up
   * rate.
   */
  amountOf({ credits, amount }: Load): string {
    if (amount !== null) return shownCredits(amount);
    return shownUnits(credits * this.topUpRate, amountPlaces);
  }

  /** Makes a lot of a load, or of an order that is paid. */
  lot(load: Omit<Order, 'id' | 'made'>, order: Order | null, from = this.now): void {
    const { reason, credits, amount, priority, expires, automatic } = load;
    const owed = debt(this.books);
    const left = credits > owed ? credits - owed : 0n;
    const number = this.entry('CreditsLoaded', reason, credits, credits, {
      amount,
      available: shownCredits(left),
      priority,
      expires: shownInstant(expires),
      order: order?.id ?? null,
      ordered: shownInstant(order?.made ?? null),
      automatic,
      effective: shownInstant(from),
    });
    const isPurchased = purchases.includes(reason);
    if (left > 0n) this.open({ number, isPurchased, priority, from, expires, left });
  }

  /** Makes a lot that can be drawn from. */
  open(lot: Lot): void {
    this.books.lots.push(lot);
    this.books.known = { ...this.books.known, [lot.number]: lot };
  }

  /** Books an entry and gives its number. `change` is signed, `credits` is not. */
  entry(
    type: string,
    reason: string,
    credits: bigint,
    change: bigint,
    more: Readonly<Record<string, unknown>>,
  ): number {
    const books = this.books;
    const before = shownCredits(books.balance);
    books.balance += change;
    books.entries += 1;
    this.tell({
      type,
      number: books.entries,
      reason,
      credits: shownCredits(credits),
      amount: shownUnits(credits * this.rate, amountPlaces),
      before,
      after: shownCredits(books.balance),
      effective: shownInstant(this.now),
      ...more,
    });
    return books.entries;
  }

  /**
   * Takes credits out of the lots. Missing credits become debt: others have checked that they may.
   */
  #take(credits: bigint, from = this.now): Lot[] {
    const lots = inOrder(this.books.lots);
    const taken = takeSince(lots, credits, from);
    takeFromKept(lots, taken, from);
    this.books.lots = this.books.lots.filter(({ left }) => left > 0n);
    return taken;
  }

  /**
   * Takes credits whole or not at all; of those that were there at a moment, when it is dated back. A debit that
   * may be partial takes what is there, and is refused where that is nothing (D26).
   */
  debit(asked: bigint, reason: string, from: number | null = null, isPartial = false): void {
    if (isPartial && this.mayOwe) throw new Refused({ reason: 'never_partial' }, false);
    const there = this.fundsSince(from);
    const credits = isPartial && there > 0n && there < asked ? there : asked;
    if (from === null) this.#assertFunds(credits);
    else this.#assertFundsThen(credits, from);
    const moment = from ?? this.now;
    const parts = this.#take(credits, moment);
    const more = {
      requested: isPartial ? shownCredits(asked) : null,
      drawn: draws(this.books, parts),
      effective: shownInstant(moment),
    };
    this.#took(this.entry('CreditsDebited', reason, credits, -credits, more), credits, parts);
  }

  /** Sets credits aside; for a share of a debit that is dated back, of those that were there then. */
  hold(
    id: string,
    credits: bigint,
    expires: number | null,
    share: { readonly from: number | null } | null = null,
  ): void {
    this.#assertFunds(credits);
    const parts = this.#take(credits, share?.from ?? this.now).map(setAside);
    this.books.holds.push({ id, isShare: share !== null, credits, expires, parts });
    const drawn = draws(this.books, parts);
    this.tell({
      type: 'CreditsHeld',
      id,
      credits: shownCredits(credits),
      expires: shownInstant(expires),
      drawn,
    });
  }

  /** Turns a hold, or a part of it, into a debit. */
  capture(
    hold: Hold,
    asked: string | undefined,
    isLast = true,
    reason = 'MANUAL_BALANCE_DEBIT',
    from: number | null = null,
  ): void {
    const credits = asked === undefined ? hold.credits : creditsOf(asked);
    if (credits > hold.credits) {
      throw new Refused({
        reason: 'hold_exceeded',
        held: shownCredits(hold.credits),
        requested: shownCredits(credits),
      });
    }
    const owed = debt(this.books);
    const own = take(hold.parts, credits);
    const beyond = this.#take(credits - total(own));
    const isFinal = isLast || credits === hold.credits;
    const back = isFinal ? this.#end(hold, owed) : [];
    if (!isFinal) this.#replace(hold, { ...hold, credits: hold.credits - credits });
    const drawn = draws(this.books, [...own, ...beyond]);
    const effective = shownInstant(from ?? this.now);
    const more = { id: hold.id, isFinal, drawn, returned: back, effective };
    const number = this.entry('HoldCaptured', reason, credits, -credits, more);
    this.#took(number, credits, [...own, ...beyond]);
  }

  /** Sets what is held and until when; what is null stays. */
  change(hold: Hold, asked: bigint | null, until: number | null): void {
    const credits = asked ?? hold.credits;
    const expires = until ?? hold.expires;
    if (credits === hold.credits && expires === hold.expires) return;
    if (expires !== null && isOver(expires, this.now)) throw new Refused({ reason: 'hold_ended' });
    const [drawn, returned] =
      credits > hold.credits ? this.#raise(hold, credits) : this.#lower(hold, credits);
    const [now] = this.books.holds.filter(({ id }) => id === hold.id);
    const parts = now?.parts ?? [];
    this.#replace(now ?? hold, { ...hold, credits, expires, parts });
    this.tell({
      type: 'HoldChanged',
      id: hold.id,
      credits: shownCredits(credits),
      expires: shownInstant(expires),
      drawn,
      returned,
      parts: parts.map(({ number, left }) => [number, shownCredits(left)]),
    });
  }

  #raise(hold: Hold, credits: bigint): [Draw[], Draw[]] {
    this.assertNotFrozen();
    this.#assertFunds(credits - hold.credits);
    const more = this.#take(credits - hold.credits).map(setAside);
    this.#replace(hold, { ...hold, parts: perLot(inOrder([...hold.parts, ...more])) });
    return [draws(this.books, more), []];
  }

  /** Lowers a hold: a promise beyond lots goes first, then the part that would be captured last. */
  #lower(hold: Hold, credits: bigint): [Draw[], Draw[]] {
    const owed = debt(this.books);
    const promised = hold.credits - total(hold.parts);
    const free = inOrder(take(hold.parts.toReversed(), hold.credits - credits - promised));
    this.#replace(hold, hold);
    take(free, owed);
    const back = free.filter(({ left }) => left > 0n);
    for (const part of back) putBack(this.books, part);
    return [[], draws(this.books, back)];
  }

  #replace(hold: Hold, now: Hold): void {
    const parts = now.parts.filter(({ left }) => left > 0n);
    this.books.holds = this.books.holds.map((other) =>
      other === hold ? { ...now, parts } : other,
    );
  }

  #took(number: number, credits: bigint, parts: readonly Lot[]): void {
    const taken = { credits, parts: perLot(parts), reversed: 0n };
    this.books.taken = { ...this.books.taken, [number]: taken };
  }

  /** Ends a hold: its credits pay the debt, and the rest goes back. Returns what went back. */
  #end(hold: Hold, owed: bigint): Draw[] {
    this.books.holds = this.books.holds.filter((other) => other !== hold);
    take(hold.parts, owed);
    const back = hold.parts.filter(({ left }) => left > 0n);
    for (const part of back) putBack(this.books, part);
    return draws(this.books, back);
  }

  /** Gives a hold up. */
  release(hold: Hold, cause: 'voided' | 'expired', at: number): void {
    const returned = this.#end(hold, debt(this.books));
    this.tell({ type: 'HoldReleased', id: hold.id, cause, at: shownInstant(at), returned });
  }

  /** Ends what has reached its time, moment by moment; nothing ends before `since`. */
  due(at: number, since = 0): void {
    const { lots, holds, orders } = this.books;
    const things = [...lots, ...holds, ...orders, ...holds.flatMap(({ parts }) => parts)];
    const times = things.flatMap(({ expires }) => expires ?? []);
    const moments = times.filter((time) => isOver(time, at)).map((time) => Math.max(time, since));
    for (const moment of moments.toSorted((a, b) => a - b)) {
      for (const hold of ending(this.books.holds, moment)) {
        this.release(hold, 'expired', hold.expires ?? moment);
      }
      for (const order of ending(this.books.orders, moment)) {
        this.giveUp(order, 'expired', order.expires ?? moment);
      }
      for (const lot of ending(inOrder(this.books.lots), moment)) this.#expire(lot, moment);
    }
  }

  #expire(lot: Lot, moment: number): void {
    this.books.lots = this.books.lots.filter((other) => other !== lot);
    const credits = shownCredits(lot.left);
    this.entry('CreditsExpired', 'CREDIT_EXPIRED', lot.left, -lot.left, {
      drawn: [[lot.number, credits, '0']],
      effective: shownInstant(moment),
    });
  }

  /** Ends an order without a load. */
  giveUp(order: Order, cause: 'cancelled' | 'expired' | 'wallet_closed', at: number): void {
    this.books.orders = this.books.orders.filter((other) => other !== order);
    this.books.ended = { ...this.books.ended, [order.id]: 'failed' };
    this.tell({
      type: 'TopUpFailed',
      id: order.id,
      cause,
      at: shownInstant(at),
      balance: shownCredits(this.books.balance),
    });
  }

  /** Takes all that is left, at the end. */
  takeRest(at: number): void {
    const { balance, holds } = this.books;
    if (balance < 0n)
      throw new Refused({ reason: 'wallet_in_debt', credit_balance: shownCredits(balance) });
    if (holds.length > 0)
      throw new Refused({ reason: 'open_holds', holds: holds.map(({ id }) => id) });
    for (const order of this.books.orders) this.giveUp(order, 'wallet_closed', at);
    if (balance > 0n) this.debit(balance, 'WALLET_TERMINATION');
  }

  /** A hold that has not ended. Refuses when there is none. */
  openHold(id: string): Hold {
    const hold = this.books.holds.find((other) => other.id === id);
    if (!hold) throw new Refused({ reason: 'hold_ended' });
    return hold;
  }

  assertOpen(): void {
    if (this.books.status === 'closed')
      throw new Refused({ reason: 'wallet_closed', wallet_status: 'closed' });
  }

  assertNotFrozen(): void {
    if (this.books.status === 'frozen')
      throw new Refused({ reason: 'wallet_frozen', wallet_status: 'frozen' });
  }

  #assertExisted(moment: number): void {
    const { created } = this.books;
    if (moment >= created) return;
    throw new Refused({ reason: 'before_creation', created_at: shownInstant(created) }, false);
  }

  /** Credits that can be taken; of those that were there at a moment and since, when one is given. */
  fundsSince(from: number | null): bigint {
    if (from === null) return available(this.books);
    return this.books.lots.reduce((sum, lot) => sum + thereSince(lot, from), 0n);
  }

  #assertFundsThen(credits: bigint, from: number): void {
    this.#assertExisted(from);
    const there = this.fundsSince(from);
    if (this.mayOwe || credits <= there) return;
    throw new Refused({
      reason: 'insufficient_credits_then',
      available: shownCredits(there),
      requested: shownCredits(credits),
      effective_at: shownInstant(from),
    });
  }

  #assertFunds(credits: bigint): void {
    const there = available(this.books);
    if (this.mayOwe || credits <= there) return;
    throw new Refused({
      reason: shortage,
      available: shownCredits(there),
      requested: shownCredits(credits),
    });
  }

  /** The alert state that levels and balance make: the first level that is reached counts. */
  judge(): void {
    const { alert: before, levels } = this.books;
    const there = spendable(this.books);
    const reached = levels.find(({ threshold, isBelow }) => {
      const over = there - creditsOf(threshold);
      return isBelow ? over <= 0n : over >= 0n;
    });
    const after = reached?.state ?? 'ok';
    if (after === before) return;
    this.books.alert = after;
    this.tell({ type: 'AlertStateChanged', before, after, available: shownCredits(there) });
  }

  tell(effect: Effect): void {
    this.effects.push(effect);
  }
}

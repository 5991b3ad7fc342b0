import { canonical, type Data, figure, isQuotient, must, names, one, shown } from './figures.ts';
import {
  drawOrder,
  goneAt,
  inOneEach,
  type Lot,
  refill,
  setAside,
  sum,
  take,
  takeSince,
} from './lots.ts';

type Load = { transaction_id: string; priority: number | null; expires_at: string | null };
/** A top-up that waits for its payment: the order and its time. */
type TopUp = { order: Data; at: string };
/** Credits set aside; `since` is the instant from which its debit counts, where that is dated back. */
type Hold = { credits: bigint; expires: string | null; parts: Lot[]; since?: unknown };
/** Credits that an entry took: what its lots gave, in order, and what has come back of all. */
type Taken = { credits: bigint; parts: Lot[]; reversed: bigint };

const records = names('RequestRefused RequestWithoutEffect ClaimRevoked BulkRecorded');
const levels = names('AlertStateChanged OngoingAlertStateChanged FeatureAlertStateChanged');
const alerts = names('AutomaticTopUpStopped WalletFrozen WalletUnfrozen').concat(levels);
const states = names('WalletCreated WalletSettingsChanged WalletClosed').concat(alerts);
const entries = names('CreditsLoaded CreditsDebited CreditsExpired HoldCaptured DebitReversed');
const purchases = names('PURCHASED_CREDIT_DIRECT PURCHASED_CREDIT_INVOICED');

/** Data with the members that it leaves out because they say nothing new. */
function whole(type: string, data: Data, at: string): Data {
  const isOrder = type.startsWith('TopUp');
  if (!isOrder && !entries.includes(type)) return data;
  const isLot = isOrder || type === 'CreditsLoaded';
  const rest = {
    topup_conversion_rate: data.conversion_rate,
    ...(isOrder ? {} : { effective_at: at }),
  };
  return { ...(isLot ? { priority: null, expires_at: null } : {}), ...rest, ...data };
}

/** One wallet, computed from its events alone. */
export class Book {
  wallet: Data | null = null;
  isClosed = false;
  balance = 0n;
  owed = 0n;
  lots: Lot[] = [];
  holds = new Map<unknown, Hold>();
  topups = new Map<unknown, TopUp>();
  taken = new Map<unknown, Taken>();
  /** Each lot as it was last, also when it is spent. */
  known = new Map<string, Lot>();
  entries = 0;
  at = '';
  created = '';
  /** The instant at which the last movement took effect, which may lie before its booking. */
  reached = '';

  /** Takes the next event. Throws a `LedgerFault` when it cannot follow those before. */
  apply(type: string, kept: Data, at: string): void {
    const data = whole(type, kept, at);
    must(at >= this.at, `happened at ${at}, before the event it follows`);
    this.at = at;
    if (records.includes(type)) return;
    must((this.wallet === null) === (type === 'WalletCreated'), 'is not in its place');
    must(!this.isClosed, 'changes a closed wallet');
    if (type === 'WalletCreated') Object.assign(this, { wallet: data, created: at });
    if (type === 'WalletClosed') this.isClosed = true;
    if (type.startsWith('TopUp')) this.#order(type, data);
    else if (!states.includes(type)) this.#move(type, data);
    const held = [...this.holds.values()].reduce((total, { parts }) => total + sum(parts), 0n);
    const total = sum(this.lots) + held - this.owed;
    must(total === this.balance, `lots and holds make ${shown(total)}, not the balance`);
    must(this.owed === 0n || this.wallet?.wallet_type === 'POST_PAID', 'takes more than is there');
    const isEmpty = total === 0n && this.topups.size === 0;
    must(!this.isClosed || isEmpty, 'closes a wallet that is not empty');
  }

  #move(type: string, data: Data): void {
    const [isHold, isRelease] = [type === 'CreditsHeld', type === 'HoldReleased'];
    must(
      isHold || isRelease || type === 'HoldChanged' || entries.includes(type),
      'is of an unknown type',
    );
    const credits = isRelease ? 0n : figure(data.credits, 'credits');
    must(credits > 0n || isRelease, 'moves no credits');
    const instant = this.#instantOf(type, data);
    if (entries.includes(type)) this.#entry(type, data, credits);
    if (type === 'CreditsLoaded') {
      this.#load(data, credits);
      return;
    }
    if (type === 'DebitReversed') {
      this.#reverse(data, credits);
      return;
    }
    if (type === 'HoldChanged') {
      this.#change(data, credits);
      return;
    }
    const hold = type.startsWith('Hold') ? this.#end(type, data) : null;
    must(!hold || credits <= hold.credits, 'captures more than was held');
    const own = hold ? take(hold.parts, credits) : [];
    const beyond = credits - sum(own);
    const lots = beyond > 0n ? this.#drawable(type, data, credits) : [];
    const at = type === 'CreditsDebited' ? instant : `${data.debit_effective_at ?? this.at}`;
    must(at <= this.at && at >= this.created, 'is made for an instant that it cannot count from');
    const [then, later] = takeSince(lots, beyond, at);
    const mayOwe = this.wallet?.wallet_type === 'POST_PAID';
    must(mayOwe || later.length === 0, 'takes what was not there at its instant');
    if (data.credits_requested !== undefined) this.#partial(data, credits, at);
    const parts = inOneEach([...own, ...then, ...later]);
    const left = hold && hold.credits - credits;
    const isKept = hold && data.is_final === false;
    if (isKept) this.#hold(data, { ...hold, credits: left ?? 0n, parts: inOneEach(hold.parts) });
    must(!isKept || left !== 0n, 'keeps a hold of nothing');
    // The rest of a hold that ends pays a debt before it returns to its lots.
    this.owed -= hold && !isKept ? sum(take(hold.parts, this.owed)) : 0n;
    const rest = isKept ? [] : (hold?.parts.filter(({ left: some }) => some > 0n) ?? []);
    this.lots = this.lots.filter(({ left }) => left > 0n);
    for (const part of rest) this.#put({ ...part, since: instant });
    if (!isRelease) this.#compare(data.drawn, parts);
    if (hold) this.#compare(data.returned, rest);
    if (type === 'CreditsDebited' || hold) {
      this.taken.set(data.transaction_id, { credits, parts, reversed: 0n });
    }
    if (!isHold) this.owed += credits - sum(parts);
    else {
      const expires = data.expires_at as string | null;
      const since = data.debit_effective_at;
      this.#hold(data, { credits, expires, parts: parts.map(setAside), since });
    }
  }

  /** A debit that may be partial takes less than was asked for only where nothing is left for it. */
  #partial({ credits_requested }: Data, credits: bigint, at: string): void {
    const missing = figure(credits_requested, 'credits_requested') - credits;
    const isPossible = missing >= 0n && this.wallet?.wallet_type !== 'POST_PAID';
    must(isPossible, 'takes more than was asked for, or is partial although the wallet may owe');
    const [rest] = takeSince(structuredClone(this.lots), missing, at);
    must(rest.length === 0, 'takes less than was asked for, and leaves some of it');
  }

  /** The instant from which a movement counts: its own, unless it ended by itself or is dated back. */
  #instantOf(type: string, data: Data): string {
    const instant = `${data.effective_at ?? data.released_at ?? this.at}`;
    const isEnd = type === 'CreditsExpired' || type === 'HoldReleased';
    const { since = this.at } = this.holds.get(data.hold_id) ?? {};
    const isCapture = type === 'HoldCaptured';
    must(!isCapture || instant === since, 'counts from another instant than its hold was made for');
    if (isEnd || instant === this.at) return this.#reach(instant);
    const isLoad = type === 'CreditsLoaded' && !data.requested;
    const isDatable = isLoad || isCapture || type === 'CreditsDebited';
    const isPast = instant < this.at && instant >= this.created;
    must(isDatable && isPast, 'counts from an instant that it cannot count from');
    return instant;
  }

  /**
   * Credits come back to the lots that gave them, the last one first; what no lot had came last of all. A
   * debt is paid first, and a lot that has expired gets another expiry.
   */
  #reverse(data: Data, credits: bigint): void {
    const taken = this.taken.get(data.reverses);
    must(taken, 'reverses an entry that took no credits');
    const left = taken.credits - sum(taken.parts);
    const order = [null, null, 1, this.entries];
    const nowhere: Lot = { id: '', left, from: this.at, expires: null, since: '', order };
    const row = [nowhere, ...taken.parts.toReversed()].map((part) => ({ ...part }));
    take(row, taken.reversed);
    const back = take(row, credits);
    must(sum(back) === credits, 'gives back more than is left of its entry');
    taken.reversed += credits;
    must(figure(data.reversed, 'reversed') === taken.reversed, 'counts other credits as reversed');
    const own = back.filter(({ id }) => id === '');
    const lots = back
      .filter(({ id }) => id !== '')
      .map((part) => this.#renewed(part, `${data.renewed_until}`))
      .sort(drawOrder);
    this.owed -= sum(take(own, this.owed));
    this.owed -= sum(take(lots, this.owed));
    const rest = lots.filter(({ left: some }) => some > 0n);
    for (const part of rest) this.#refill(part);
    this.#compare(data.returned, rest, true);
    const available = figure(data.credits_available, 'credits_available');
    must(available === sum(own), 'wrong credits_available');
    if (available > 0n) this.#open({ ...nowhere, id: `${data.transaction_id}`, left: available });
  }

  /** A part as its lot is by now; one that has expired has the expiry that the event names. */
  #renewed(part: Lot, until: string): Lot {
    const lot = { ...(this.known.get(part.id) ?? part), left: part.left, from: this.at, since: '' };
    if (lot.expires === null || lot.expires > this.at) return lot;
    must(until > this.at, 'gives credits back that have expired');
    return { ...lot, expires: until, order: lot.order.with(1, until) };
  }

  /** The instant at which something took effect; never before the movements it follows. */
  #reach(value: unknown): string {
    const instant = `${value}`;
    must(instant >= this.reached && instant <= this.at, 'took effect before what it follows');
    this.reached = instant;
    return instant;
  }

  /** A top-up is ordered, or given up. Neither changes a balance. */
  #order(type: string, { credit_balance, cause, failed_at, ...data }: Data): void {
    const isNew = type === 'TopUpRequested';
    must(isNew || type === 'TopUpFailed', 'is of an unknown type');
    must(figure(credit_balance, 'balance') === this.balance, 'wrong balance');
    if (isNew) {
      const isAutomatic = [...this.topups.values()].some(({ order }) => order.automatic);
      const isTwice = this.topups.has(data.transaction_id) || (data.automatic && isAutomatic);
      must(!isTwice, 'asks for a top-up twice');
      this.#facts(data, figure(data.credits, 'credits'), true);
      this.topups.set(data.transaction_id, { order: data, at: this.at });
      return;
    }
    const { expires_at: expires } = this.#endTopUp(data);
    const isOver = expires !== null && `${expires}` <= this.at;
    const isRight = isOver === (cause === 'expired') && failed_at === (isOver ? expires : this.at);
    must(isRight && this.#reach(failed_at), 'does not end its top-up at the right instant');
  }

  /** A hold is raised from the lots, or lowered: its last part goes first, and pays a debt before it returns. */
  #change(data: Data, credits: bigint): void {
    const hold = this.holds.get(data.hold_id);
    must(hold, 'changes a hold that is not open');
    const more = credits - hold.credits;
    const lots = more > 0n ? this.#drawable('CreditsHeld', data, more) : [];
    const drawn = inOneEach(takeSince(lots, more > 0n ? more : 0n, this.at).flat());
    const promised = hold.credits - sum(hold.parts);
    const less = -more - promised;
    const free = take(hold.parts.toReversed(), less > 0n ? less : 0n).sort(drawOrder);
    this.owed -= sum(take(free, this.owed));
    const rest = free.filter(({ left }) => left > 0n);
    this.lots = this.lots.filter(({ left }) => left > 0n);
    for (const part of rest) this.#put({ ...part, since: this.at });
    this.#compare(data.drawn, drawn);
    this.#compare(data.returned, rest);
    const own = hold.parts.filter(({ left }) => left > 0n);
    const kept = [...own, ...drawn.map(setAside)].sort(drawOrder);
    const parts = inOneEach(kept);
    const shownParts = parts.map(({ id, left }) => ({ transaction_id: id, credits: shown(left) }));
    must(canonical(data.parts) === canonical(shownParts), 'does not have the parts that it names');
    this.holds.delete(data.hold_id);
    this.#hold(data, { credits, expires: data.expires_at as string | null, parts });
  }

  /** The top-up that ends, exactly as it was ordered; its bonus is a load of its own. */
  #endTopUp({ requested, ...data }: Data, isLoaded = false): Data {
    const topup = this.topups.get(data.transaction_id);
    const isWaiting = topup && topup.at === (requested as TopUp | undefined)?.at;
    must(isWaiting, 'ends a top-up that does not wait');
    const { bonus: _, ...credits } = topup.order;
    const asked = isLoaded ? credits : topup.order;
    must(canonical(data) === canonical(asked), 'is not the top-up that was asked for');
    this.topups.delete(data.transaction_id);
    return topup.order;
  }

  #hold(data: Data, hold: Hold): void {
    const isWhole = sum(hold.parts) === hold.credits || this.wallet?.wallet_type === 'POST_PAID';
    must(isWhole && !this.holds.has(data.hold_id), 'holds what is not there, or holds it twice');
    this.holds.set(data.hold_id, hold);
  }

  /** The members that all entries share: number, rates, amount and balances. */
  #entry(type: string, data: Data, credits: bigint): void {
    this.entries += 1;
    must(data.sequence === this.entries, `is entry ${data.sequence}, not ${this.entries}`);
    const isLoad = type === 'CreditsLoaded';
    const isIn = isLoad || type === 'DebitReversed';
    const after = this.balance + (isIn ? credits : -credits);
    const before = data.credit_balance_before ?? shown(this.balance);
    must(figure(before, 'balance') === this.balance, 'wrong balance before');
    must(figure(data.credit_balance_after, 'balance') === after, 'wrong balance after');
    this.#facts(data, credits, isLoad);
    this.balance = after;
  }

  /** The owner and the worth of the credits. */
  #facts(data: Data, credits: bigint, isLoad: boolean): void {
    must(credits > 0n, 'moves no credits');
    for (const name of ['customer_id', 'currency', 'conversion_rate', 'topup_conversion_rate']) {
      must(data[name] === this.wallet?.[name], `${name} is not that of the wallet`);
    }
    const amount = figure(data.amount, 'amount');
    const rate = figure(isLoad ? data.topup_conversion_rate : data.conversion_rate, 'rate');
    const isExact = amount * one === credits * rate;
    must(isExact || (isLoad && isQuotient(credits, amount, rate)), 'amount is not credits × rate');
    must(!(data.expires_at && `${data.expires_at}` <= this.at), 'loads what has expired');
  }

  #load(data: Data, credits: bigint): void {
    const { sequence, effective_at, credit_balance_before, credit_balance_after, ...rest } = data;
    const { credits_available, ...ordered } = rest;
    if (data.requested) this.#endTopUp(ordered, true);
    must(!this.topups.has(data.transaction_id), 'loads what waits for its payment');
    const left = this.owed < credits ? credits - this.owed : 0n;
    must(figure(credits_available, 'credits_available') === left, 'wrong credits_available');
    this.owed -= credits - left;
    const { transaction_id: id, priority, expires_at: expires } = data as Load;
    const order = [priority, expires, Number(purchases.includes(`${data.reason}`)), this.entries];
    must(!this.lots.some((lot) => lot.id === id), 'is a load that exists already');
    const from = `${effective_at}`;
    if (left > 0n) this.#open({ id, left, from, expires, since: '', order });
  }

  /** The lots that may be drawn from: none that has expired, or the one that expires here. */
  #drawable(type: string, data: Data, credits: bigint): Lot[] {
    if (type !== 'CreditsExpired') {
      this.#assertNoneGone((instant) => instant <= this.at);
      return data.takes_back === undefined ? this.lots : [this.#takenBack(data, credits)];
    }
    const lot = this.lots.find(({ id }) => id === data.reference_id);
    must(lot?.left === credits, 'does not book out the rest of a lot');
    must(goneAt(lot) === data.effective_at, 'the lot has not expired then');
    return [lot];
  }

  /** The bonus that a debit takes back, of which it takes no more than there is. */
  #takenBack(data: Data, credits: bigint): Lot {
    const lot = this.lots.find(({ id }) => id === data.takes_back);
    must(lot !== undefined && lot.left >= credits, 'takes back what is not there');
    return lot;
  }

  #assertNoneGone(isTooLate: (instant: string) => boolean): void {
    const gone = this.lots.find((lot) => isTooLate(goneAt(lot) ?? '~'));
    must(!gone, `lot ${gone?.id} has expired and was not booked out before`);
  }

  /** The parts as the event lists them, with the credits that their lots have now. */
  #compare(listed: unknown, parts: readonly Lot[], isWhole = false): void {
    const expected = parts.map(({ id, left, order }) => {
      const remaining = this.lots.find((lot) => lot.id === id)?.left ?? 0n;
      const draw = { transaction_id: id, credits: shown(left), remaining: shown(remaining) };
      const [priority, expires_at, isPurchased, sequence] = order;
      const lot = { priority, expires_at, class: isPurchased ? 'purchased' : 'free', sequence };
      return isWhole ? { ...draw, ...lot } : draw;
    });
    const [is, wanted] = [canonical(listed), canonical(expected)];
    must(is === wanted, `lots: ${is} instead of ${wanted}`);
  }

  /** Puts credits into a lot that is as they say. */
  #open(part: Lot): void {
    this.#put(part);
    this.known.set(part.id, { ...part });
  }

  /** Gives credits back to a lot, which count from now. */
  #refill(part: Lot): void {
    this.#open({ ...part, refilled: null });
  }

  /** Puts credits into their lot, which exists again when it was spent completely. */
  #put(part: Lot): void {
    const lot = this.lots.find(({ id }) => id === part.id);
    if (lot && part.from > lot.from) refill(lot, part.from);
    if (lot) Object.assign(lot, { left: lot.left + part.left, since: part.since });
    else this.lots = [...this.lots, part].sort(drawOrder);
  }

  #end(type: string, data: Data): Hold {
    const hold = this.holds.get(data.hold_id);
    must(hold, 'ends a hold that is not open');
    const isOver = hold.expires !== null && hold.expires <= this.at;
    const instant = isOver ? hold.expires : this.at;
    const isNamed = isOver === (data.cause === 'expired');
    const isRight = isNamed && (type === 'HoldCaptured' || data.released_at === instant);
    must(isRight, 'does not end its hold at the right instant');
    this.#assertNoneGone((gone) => gone < `${instant}`);
    this.holds.delete(data.hold_id);
    return hold;
  }
}

/**
 * Checks an exported wallet ledger, with nothing but this file, the export and a public key:
 *
 *   node verify-ledger.ts ledger.jsonl --key pub.pem --checkpoint earlier.json
 *
 * It shares no code with the service, reads no network and no database, and computes every hash,
 * balance and lot again. Node 24 runs it as it is. Under another name, linked or compiled it does the
 * same: exit code 0 is only ever given with the line `OK …`, 1 for a fault of the ledger, and 2 when
 * nothing could be checked, such as a file that is not there.
 */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { createReadStream, readFileSync, realpathSync } from 'node:fs';
import { parseArgs } from 'node:util';

type Data = Record<string, unknown>;
type Event = { type: string; stream: string; revision: number; data: Data; metadata: Data };
type Order = (number | string | null)[];
/**
 * Credits of one load, which count from an instant on, or the part of them that is drawn or held; `since` is
 * the time of their return. A reversal `refilled` it at an instant; only what it had `kept` was there before.
 */
type Lot = {
  id: string;
  left: bigint;
  from: string;
  refilled?: { at: string; kept: bigint } | null;
  expires: string | null;
  since: string;
  order: Order;
};
type Load = { transaction_id: string; priority: number | null; expires_at: string | null };
/** A top-up that waits for its payment: the order and its time. */
type TopUp = { order: Data; at: string };
type Hold = { credits: bigint; expires: string | null; parts: Lot[] };
/** Credits that an entry took: what its lots gave, in order, and what has come back of all. */
type Taken = { credits: bigint; parts: Lot[]; reversed: bigint };
type Trees = { tree_size: number; root_hash: string; wallets: number; heads_root: string };
type Checkpoint = { id: string; environment_id: string } & Trees;
type Proof = { revision: number; index: number; from: number; path: string[] };

/** The first fault of the ledger, in words. */
export class LedgerFault extends Error {}

/** The reason why nothing could be checked: a fault of the input, not of the ledger. */
export class UnusableInput extends Error {}

function must(condition: unknown, fault: string): asserts condition {
  if (!condition) throw new LedgerFault(fault);
}

const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

/** RFC 8785: members in code unit order, no white space. */
function canonical(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join(',')}}`;
}

/** Figures are whole numbers of 10⁻⁴⁰; 20 digits each, so that a product is exact. */
const one = 10n ** 40n;
function figure(value: unknown, what: string): bigint {
  const isDecimal = typeof value === 'string' && /^-?(0|[1-9]\d*)(\.\d{0,19}[1-9])?$/.test(value);
  must(isDecimal && value !== '-0', `${what} is no decimal in canonical form`);
  const [whole, fraction = ''] = value.replace('-', '').split('.');
  const size = BigInt(`${whole}${fraction.padEnd(40, '0')}`);
  return value.startsWith('-') ? -size : size;
}
function shown(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(41, '0');
  const text = `${digits.slice(0, -40)}.${digits.slice(-40)}`.replace(/\.?0+$/, '');
  return value < 0n ? `-${text}` : text;
}

/** Tells whether credits are amount ÷ rate, rounded half to even at 9 fraction digits. */
function isQuotient(credits: bigint, amount: bigint, rate: bigint): boolean {
  const [off, half] = [(credits * rate - amount * one) * 2n, rate * 10n ** 31n];
  const isTie = off === half || off === -half;
  return (off < half && off > -half) || (isTie && (credits / 10n ** 31n) % 2n === 0n);
}

const sum = (lots: readonly Lot[]): bigint => lots.reduce((total, lot) => total + lot.left, 0n);
/** By priority, expiry, free before purchased and age; lots without priority or expiry come last. */
function drawOrder({ order: a }: Lot, { order: b }: Lot): number {
  const place = a.findIndex((value, index) => value !== b[index]);
  const [left = null, right = null] = [a[place], b[place]];
  return left === null ? 1 : right === null || left < right ? -1 : 1;
}

/** The expiry of a lot; credits that a hold returned too late expire when they return. */
const goneAt = ({ expires, since }: Lot): string | null =>
  expires !== null && expires < since ? since : expires;

/** Takes credits from lots in their order, as far as they go. Returns the parts; changes the lots. */
function take(lots: readonly Lot[], credits: bigint): Lot[] {
  let missing = credits;
  return lots.flatMap((lot) => {
    const left = lot.left < missing ? lot.left : missing;
    missing -= left;
    lot.left -= left;
    return left > 0n ? [{ ...lot, left }] : [];
  });
}

/** Takes credits first from what was in the lots at an instant and ever since, and then from the rest. */
function takeSince(lots: readonly Lot[], credits: bigint, instant: string): [Lot[], Lot[]] {
  let missing = credits;
  const then = lots.flatMap((lot) => {
    const { left, from, refilled } = lot;
    const isLess = refilled && instant < refilled.at && refilled.kept < left;
    const there = from > instant ? 0n : isLess ? refilled.kept : left;
    const parts = take([lot], there < missing ? there : missing);
    missing -= sum(parts);
    return parts;
  });
  return [then, take(lots, missing)];
}

/** One part per lot, at the place of its first. */
function inOneEach(parts: readonly Lot[]): Lot[] {
  const byLot = new Map<unknown, Lot>();
  for (const part of parts) {
    const known = byLot.get(part.id);
    byLot.set(part.id, { ...part, left: part.left + (known?.left ?? 0n) });
  }
  return [...byLot.values()];
}

const names = (text: string): string[] => text.split(' ');
const records = names('RequestRefused RequestWithoutEffect ClaimRevoked BulkRecorded');
const alerts = names('AlertStateChanged AutomaticTopUpStopped WalletFrozen WalletUnfrozen');
const states = names('WalletCreated WalletSettingsChanged WalletClosed').concat(alerts);
const entries = names('CreditsLoaded CreditsDebited CreditsExpired HoldCaptured DebitReversed');
const purchases = names('PURCHASED_CREDIT_DIRECT PURCHASED_CREDIT_INVOICED');

/** One wallet, computed from its events alone. */
class Book {
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
  apply(type: string, data: Data, at: string): void {
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
    const at = type === 'CreditsDebited' ? instant : this.at;
    const [then, later] = takeSince(lots, beyond, at);
    const mayOwe = this.wallet?.wallet_type === 'POST_PAID';
    must(mayOwe || later.length === 0, 'takes what was not there at its instant');
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
    else this.#hold(data, { credits, expires: data.expires_at as string | null, parts });
  }

  /** The instant from which a movement counts: its own, unless it ended by itself or is dated back. */
  #instantOf(type: string, data: Data): string {
    const instant = `${data.effective_at ?? data.released_at ?? this.at}`;
    const isEnd = type === 'CreditsExpired' || type === 'HoldReleased';
    if (isEnd || instant === this.at) return this.#reach(instant);
    const isDatable = type === 'CreditsDebited' || (type === 'CreditsLoaded' && !data.requested);
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
    const kept = [...hold.parts.filter(({ left }) => left > 0n), ...drawn].sort(drawOrder);
    const parts = inOneEach(kept);
    const shownParts = parts.map(({ id, left }) => ({ transaction_id: id, credits: shown(left) }));
    must(canonical(data.parts) === canonical(shownParts), 'does not have the parts that it names');
    this.holds.delete(data.hold_id);
    this.#hold(data, { credits, expires: data.expires_at as string | null, parts });
  }

  /** The top-up that ends, exactly as it was ordered. */
  #endTopUp({ requested, ...data }: Data): Data {
    const topup = this.topups.get(data.transaction_id);
    const isWaiting = topup && topup.at === (requested as TopUp | undefined)?.at;
    must(isWaiting, 'ends a top-up that does not wait');
    must(canonical(data) === canonical(topup.order), 'is not the top-up that was asked for');
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
    must(figure(data.credit_balance_before, 'balance') === this.balance, 'wrong balance before');
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
    if (data.requested) this.#endTopUp(ordered);
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
      return this.lots;
    }
    const lot = this.lots.find(({ id }) => id === data.reference_id);
    must(lot?.left === credits, 'does not book out the rest of a lot');
    must(goneAt(lot) === data.effective_at, 'the lot has not expired then');
    return [lot];
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

  /** Gives credits back to a lot: what it has kept was there before, and what comes back was not. */
  #refill(part: Lot): void {
    const lot = this.lots.find(({ id }) => id === part.id);
    const kept = lot?.refilled && lot.refilled.kept < lot.left ? lot.refilled.kept : lot?.left;
    if (lot && kept !== undefined) lot.refilled = { at: this.at, kept };
    this.#open({ ...part, refilled: null });
  }

  /** Puts credits into their lot, which exists again when it was spent completely. */
  #put(part: Lot): void {
    const lot = this.lots.find(({ id }) => id === part.id);
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

const nodeHash = (left: string, right: string): string =>
  sha256(Buffer.from(`01${left}${right}`, 'hex'));
/** The largest power of two below a size: where RFC 6962 divides a tree. */
const half = (size: number): number => 2 ** Math.ceil(Math.log2(size) - 1);

/** The next step of a proof, from the root down. */
function step(path: string[]): string {
  const next = path.pop() ?? '';
  must(/^[0-9a-f]{64}$/.test(next), 'the proof is too short');
  return next;
}

/** The root that a leaf and its path lead to. */
function rootOf(leaf: string, index: number, size: number, path: string[]): string {
  if (size <= 1) return leaf;
  const [other, middle] = [step(path), half(size)];
  if (index < middle) return nodeHash(rootOf(leaf, index, middle, path), other);
  return nodeHash(other, rootOf(leaf, index - middle, size - middle, path));
}

/** The roots of an earlier and of the later tree that a proof leads to, given the earlier root. */
function rootsOf(root: string | null, from: number, size: number, path: string[]): string[] {
  if (from >= size) return Array(2).fill(root ?? step(path));
  const [other, middle] = [step(path), half(size)];
  if (from <= middle) {
    const [before = '', after = ''] = rootsOf(root, from, middle, path);
    return [before, nodeHash(after, other)];
  }
  return rootsOf(null, from - middle, size - middle, path).map((right) => nodeHash(other, right));
}

/** The first 16 digits of the SHA-256 of a public key, the `key_id` of its signatures. */
const keyIdOf = (key: KeyObject): string =>
  sha256(key.export({ format: 'der', type: 'spki' })).slice(0, 16);

/** The statement of a checkpoint, which must be signed with the key. */
function signed({ statement, signature, key_id: named }: Data, key: KeyObject): Checkpoint {
  const bytes = Buffer.from(`${signature}`, 'hex');
  const isOurs = verify(null, Buffer.from(`${statement}`), key, bytes);
  if (isOurs && bytes.toString('hex') === signature) return JSON.parse(`${statement}`);
  const other = named && named !== keyIdOf(key);
  const reason = other ? `: it names key ${named}, the key given is ${keyIdOf(key)}` : '';
  throw new LedgerFault(`the signature of the checkpoint is wrong${reason}`);
}

function usable<Value>(read: () => Value, problem: string): Value {
  try {
    return read();
  } catch {
    throw new UnusableInput(problem);
  }
}

/** Checkpoints that somebody kept, all signed: one, or a list of them as the API answers it. */
function keptCheckpoints(text: string, key: KeyObject): Checkpoint[] {
  const kept = usable(() => JSON.parse(text), 'the earlier checkpoint is no JSON');
  const list: Data[] = Array.isArray(kept?.items) ? kept.items : [kept];
  const isUsable = list.length > 0 && list.every((each) => each?.statement && each.signature);
  if (!isUsable) throw new UnusableInput('the earlier checkpoint has no statement and signature');
  return list.map((each) => signed(each, key));
}

/** The state of the check after the lines of an export so far. */
class Ledger {
  readonly book = new Book();
  readonly hashes: string[] = [];
  stream = '';
  isWhole = false;
  checkpoint: Checkpoint | null = null;
  covered = -1;
  place = '';
  extended: Checkpoint | null = null;

  event(event: Event): void {
    const revision = this.hashes.length;
    const { hash, ...metadata } = event.metadata;
    const actual = sha256(canonical({ ...event, metadata }));
    try {
      must(!this.isWhole, 'comes after the end');
      must(event.revision === revision, `is missing; the next event is ${event.revision}`);
      const isNext = metadata.prev === (this.hashes.at(-1) ?? '0'.repeat(64));
      must(isNext, 'does not follow the event before it');
      must(actual === hash, 'its content does not match its hash');
      must(event.stream === this.stream, 'is of another stream');
      this.book.apply(event.type, event.data, `${metadata.occurred_at}`);
    } catch (error) {
      throw new LedgerFault(`revision ${revision}: ${(error as Error).message} (${event.type})`);
    }
    this.hashes.push(actual);
  }

  end(head: unknown): void {
    const revision = this.hashes.length - 1;
    const isHead = canonical(head) === canonical({ hash: this.hashes.at(-1), revision });
    must(isHead, `revision ${revision} is not the last: events after it are missing`);
    this.isWhole = true;
  }

  #leaf(revision: number): string {
    const event = { hash: this.hashes[revision], revision, stream: this.stream };
    return sha256(`\0${canonical(event)}`);
  }

  inclusion({ revision, index, path }: Proof): void {
    const { environment_id, tree_size, root_hash } = this.checkpoint ?? ({} as Checkpoint);
    const isOfStream = this.stream.startsWith(`wallet-${environment_id}.`);
    must(isOfStream && index < tree_size, 'the proof is about another environment or tree');
    const root = rootOf(this.#leaf(revision), index, tree_size, path);
    must(root === root_hash, `revision ${revision} is not what the checkpoint was signed over`);
    this.covered = revision;
  }

  /** Checks that no event of the wallet was left out, and finds its place among the wallets. */
  completeness({ revision, index, path }: Proof): void {
    const { wallets, heads_root } = this.checkpoint ?? { wallets: 0, heads_root: '' };
    const isOfWallet = index < wallets && revision === this.covered;
    must(isOfWallet, 'the proof is about another wallet or event');
    const root = rootOf(this.#leaf(revision), index, wallets, path);
    must(root === heads_root, `revision ${revision} is not the last one that was signed`);
    this.place = `, wallet ${index + 1} of ${wallets}`;
  }

  consistency(kept: readonly Checkpoint[], { from, path }: Proof): void {
    const earlier = kept.find(({ tree_size }) => tree_size === from);
    if (!earlier || !this.checkpoint) return;
    const { environment_id, tree_size, root_hash } = this.checkpoint;
    const roots = canonical(rootsOf(earlier.root_hash, from, tree_size, path));
    const isSame = roots === canonical([earlier.root_hash, root_hash]);
    const isHere = environment_id === earlier.environment_id;
    must(isSame && isHere, `what ${earlier.id} was signed over is not in the history any more`);
    this.extended = earlier;
  }
}

const trailers = names('head checkpoint inclusion completeness consistency');
const hasMembers = (line: Data, wanted: string): boolean =>
  Object.keys(line).sort().join(' ') === wanted;

/**
 * Checks the lines of an export; returns a summary. With a public key (PEM) it also checks the signatures,
 * and with checkpoints kept from earlier (one, or the list that the API answers) that they still hold.
 * Throws a `LedgerFault` at the first fault, and `UnusableInput` for a text that is no key or checkpoint.
 */
export async function verifyLedger(
  lines: AsyncIterable<string> | Iterable<string>,
  keyText?: string,
  earlierText?: string,
): Promise<string> {
  const key =
    keyText === undefined
      ? null
      : usable(() => createPublicKey(keyText), 'the key is no public key in PEM');
  const kept = key && earlierText !== undefined ? keptCheckpoints(earlierText, key) : null;
  const ledger = new Ledger();
  let number = 0;
  for await (const text of lines) {
    number += 1;
    try {
      const line = JSON.parse(text);
      must(canonical(line) === text, 'is not in canonical form');
      if (number === 1) {
        must(line.format === 'counterfoil-ledger' && line.version === 1, 'is no ledger');
        must(hasMembers(line, 'format position stream version'), 'has other members than a header');
        ledger.stream = line.stream;
      } else if (line.type) ledger.event(line);
      else if (!trailers.some((name) => hasMembers(line, name)))
        must(false, 'is of an unknown kind');
      else if (line.head) ledger.end(line.head);
      else if (key && line.checkpoint) ledger.checkpoint = signed(line.checkpoint, key);
      else if (key && line.inclusion) ledger.inclusion(line.inclusion);
      else if (key && line.completeness) ledger.completeness(line.completeness);
      else if (kept && line.consistency) ledger.consistency(kept, line.consistency);
    } catch (error) {
      throw new LedgerFault(`line ${number}: ${(error as Error).message}`);
    }
  }
  const { book, hashes, isWhole, stream, checkpoint, covered, place, extended } = ledger;
  must(number > 0, 'the file is empty');
  must(isWhole, `the export is cut off after revision ${hashes.length - 1}`);
  must(!key || covered >= 0, 'there is no proof that a signed checkpoint includes this ledger');
  must(!checkpoint || place, 'there is no proof that no event was left out');
  must(!kept || extended, 'there is no proof that the earlier checkpoint still holds');
  const proof = checkpoint
    ? `signed up to revision ${covered} by ${checkpoint.id}${place}`
    : 'unsigned';
  const extension = extended ? `, which extends ${extended.id}` : '';
  const balance = `${hashes.length} events, credit balance ${shown(book.balance)}`;
  return `${stream}: ${balance}, ${proof}${extension}`;
}

async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(file, 'utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  must(rest === '', 'the last line is cut off');
}

const usage = 'node verify-ledger.ts ledger.jsonl [--key pub.pem [--checkpoint earlier.json]]';

/** The command line: prints one line that begins with OK, FAULT or ERROR, and sets the exit code. */
export async function main(args: string[]): Promise<void> {
  const options = { key: { type: 'string' }, checkpoint: { type: 'string' } } as const;
  const read = (file?: string) => (file === undefined ? file : readFileSync(file, 'utf8'));
  process.exitCode = 2;
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [ledger] = positionals;
    if (!ledger || positionals.length > 1) throw new UnusableInput(`usage: ${usage}`);
    if (values.checkpoint && !values.key) throw new UnusableInput('--checkpoint needs --key');
    const summary = await verifyLedger(linesOf(ledger), read(values.key), read(values.checkpoint));
    console.log(`OK ${summary}`);
    process.exitCode = 0;
  } catch (error) {
    const isFault = error instanceof LedgerFault;
    console.log(`${isFault ? 'FAULT' : 'ERROR'} ${(error as Error).message}`);
    if (isFault) process.exitCode = 1;
  }
}

/** Tells whether this file is the program that was started, under any name; in doubt it is. */
function isStarted(): boolean {
  if (typeof import.meta.main === 'boolean') return import.meta.main;
  const [started, self] = [process.argv[1], import.meta.filename];
  return !started || !self || realpathSync(started) === realpathSync(self);
}

if (isStarted()) void main(process.argv.slice(2));

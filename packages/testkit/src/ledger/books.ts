import { shownCredits } from './units.ts';

/**
 * The oracle's memory of a wallet. Lots are kept in no order and are sorted whenever credits are
 * taken: slow, and hard to get wrong.
 */
export interface Lot {
  /** Number of the entry that loaded it. */
  readonly number: number;
  readonly isPurchased: boolean;
  readonly priority: number | null;
  /** From when on its credits count. */
  readonly from: number;
  /** The last time at which credits came back that had not been there before, and how many were all the time. */
  refilled?: { readonly at: number; readonly kept: bigint } | null;
  /** Milliseconds since 1970; null: never. */
  readonly expires: number | null;
  left: bigint;
}

export interface Hold {
  readonly id: string;
  /** True for the part of a debit over several wallets: its end is its own occasion. */
  readonly isShare: boolean;
  readonly credits: bigint;
  readonly expires: number | null;
  /** The parts of lots that were taken for it, as they were taken. */
  readonly parts: Lot[];
}

/** Credits that are loaded when somebody has paid for them. */
export interface Order {
  readonly id: string;
  readonly reason: string;
  readonly credits: bigint;
  /** As the event says it: what was paid, or credits at the top-up rate. */
  readonly amount: string;
  readonly priority: number | null;
  readonly expires: number | null;
  readonly automatic: Automatic | null;
  /** The moment at which it was made. */
  readonly made: number;
}

/** The occasion on which a wallet looks whether it needs credits. */
export interface Occasion {
  readonly cause: 'change' | 'settings' | 'unfreezing' | 'new_day' | 'refused_debit' | 'ongoing';
  /** Of a change, the number of the entry or the id of the hold that made it; else null. */
  readonly by: number | string | null;
}

/** The occasion of an automatic top-up, and its number within the day. */
export interface Automatic extends Occasion {
  readonly day: string;
  readonly number: number;
}

/** Settings of automatic top-up that are switched on. */
export interface AutoTopUp {
  readonly amount: bigint;
  readonly threshold: bigint;
  readonly isInvoiced: boolean;
  readonly limit: number;
}

/** An alert level and the balance at which it is reached. */
export interface Level {
  readonly state: string;
  readonly threshold: string;
  readonly isBelow: boolean;
}

/** Credits that an entry took, and those of them that have come back. */
export interface Taken {
  readonly credits: bigint;
  /** The part of each lot, in the order of the draws. */
  readonly parts: readonly Lot[];
  readonly reversed: bigint;
}

export interface Books {
  /** The moment of its creation. */
  created: number;
  status: 'active' | 'frozen' | 'closed';
  alert: string;
  /** Alert levels that count, the most severe first. */
  levels: readonly Level[];
  /** Text of each setting that was given. */
  settings: Readonly<Record<string, string>>;
  balance: bigint;
  entries: number;
  lots: Lot[];
  holds: Hold[];
  orders: readonly Order[];
  /** The end of each order that is not open any more. */
  ended: Readonly<Record<string, 'completed' | 'failed'>>;
  /** Each lot that there ever was, as it was last, and each entry that took credits, by their numbers. */
  known: Readonly<Record<number, Lot>>;
  taken: Readonly<Record<number, Taken>>;
  autoTopUp: AutoTopUp | null;
  /** Last day of automatic top-ups, how many there were, and when they were stopped. */
  day: string | null;
  count: number;
  stoppedOn: string | null;
}

/** A copy that shares nothing that changes. */
export const copied = (books: Books): Books => ({
  ...books,
  lots: books.lots.map((lot) => ({ ...lot })),
  holds: books.holds.map((hold) => ({ ...hold, parts: hold.parts.map((part) => ({ ...part })) })),
});

const later = Number.POSITIVE_INFINITY;

/** Tells whether a lot is spent before another (D23). */
function isBefore(a: Lot, b: Lot): boolean {
  const ranks = ({ priority, expires, isPurchased, number }: Lot) =>
    [priority ?? later, expires ?? later, isPurchased ? 1 : 0, number] as const;
  const [left, right] = [ranks(a), ranks(b)];
  const place = left.findIndex((rank, index) => rank !== right[index]);
  return (left[place] ?? 0) < (right[place] ?? 0);
}

/** The lots in the order in which they are spent. */
export const inOrder = <Item extends Lot>(lots: readonly Item[]): Item[] =>
  lots.toSorted((a, b) => (a === b ? 0 : isBefore(a, b) ? -1 : 1));

/** Returns how many credits of a lot were there at a moment and have been there since. */
export function thereSince({ left, from, refilled }: Lot, moment: number): bigint {
  if (from > moment) return 0n;
  const isLess = refilled && moment < refilled.at && refilled.kept < left;
  return isLess ? refilled.kept : left;
}

export const total = (lots: readonly Lot[]): bigint =>
  lots.reduce((sum, { left }) => sum + left, 0n);

/** Credits that can be taken or held: the content of the lots. */
export const available = ({ lots }: Books): bigint => total(lots);

export const held = ({ holds }: Books): bigint =>
  holds.reduce((sum, { credits }) => sum + credits, 0n);

/** Credits that can be spent: what the wallet has, less what is set aside (D28). */
export const spendable = (books: Books): bigint => books.balance - held(books);

/** Returns what was taken beyond what was there. */
export const debt = ({ lots, holds, balance }: Books): bigint =>
  total([...lots, ...holds.flatMap(({ parts }) => parts)]) - balance;

/** Takes credits out of lots that stand in their order, as far as they go. Returns the parts taken. */
export function take(lots: readonly Lot[], credits: bigint): Lot[] {
  const taken: Lot[] = [];
  let missing = credits;
  for (const lot of lots) {
    const left = lot.left < missing ? lot.left : missing;
    if (left <= 0n) continue;
    lot.left -= left;
    missing -= left;
    taken.push({ ...lot, left });
  }
  return taken;
}

/**
 * Takes credits out of lots that stand in their order: first those that were there at a moment and since,
 * then the others. Returns the parts taken.
 */
export function takeSince(lots: readonly Lot[], credits: bigint, moment: number): Lot[] {
  let missing = credits;
  const parts = lots.flatMap((lot) => {
    const there = thereSince(lot, moment);
    const taken = take([lot], there < missing ? there : missing);
    missing -= total(taken);
    return taken;
  });
  return [...parts, ...take(lots, missing)];
}

/** Puts a part back where it came from. Of an open lot, what counts only from later was not there before. */
export function putBack(books: Books, part: Lot): void {
  if (part.left === 0n) return;
  const lot = books.lots.find(({ number }) => number === part.number);
  if (!lot) {
    books.lots.push({ ...part });
    return;
  }
  if (part.from > lot.from) lot.refilled = refill(lot, part.from);
  lot.left += part.left;
}

/** The mark of a lot to which credits come back that count from a moment. */
export function refill({ left, refilled }: Lot, at: number): { at: number; kept: bigint } {
  const kept = refilled && refilled.kept < left ? refilled.kept : left;
  return { at: refilled && refilled.at > at ? refilled.at : at, kept };
}

/** A part of a lot that is set aside: it counts from when all of the lot does; what that has kept stays with it. */
export const setAside = ({ refilled, ...part }: Lot): Lot => ({
  ...part,
  from: refilled ? refilled.at : part.from,
});

/** Takes what an entry that is dated back has drawn out of what the lots had kept from before. */
export function takeFromKept(lots: readonly Lot[], parts: readonly Lot[], moment: number): void {
  for (const lot of lots) {
    const { refilled } = lot;
    if (!refilled || refilled.at <= moment) continue;
    const taken = total(parts.filter(({ number }) => number === lot.number));
    const kept = refilled.kept > taken ? refilled.kept - taken : 0n;
    lot.refilled = { ...refilled, kept };
  }
}

/** A draw as it stands in an event: lot, credits taken, credits that its lot has afterwards. */
export type Draw = readonly [lot: number, credits: string, remaining: string];

/**
 * Parts that were taken or have come back, one line per lot, with the present content of the lot.
 */
export const draws = ({ lots }: Books, parts: readonly Lot[]): Draw[] =>
  perLot(parts).map(({ number, left: credits }) => {
    const left = lots.find((lot) => lot.number === number)?.left ?? 0n;
    return [number, shownCredits(credits), shownCredits(left)];
  });

/** One part per lot, at the place of its first. */
export function perLot(parts: readonly Lot[]): Lot[] {
  const byLot = new Map<number, Lot>();
  for (const part of parts) {
    const known = byLot.get(part.number);
    const left = part.left + (known?.left ?? 0n);
    const from = known && known.from > part.from ? known.from : part.from;
    byLot.set(part.number, { ...part, from, left });
  }
  return [...byLot.values()];
}

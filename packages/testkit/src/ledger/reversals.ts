import { type Books, debt, inOrder, type Lot, refill, take, total } from './books.ts';
import type { ReferenceLedger } from './reference-ledger.ts';
import { isOver, Refused, shownInstant } from './refusals.ts';
import { shownCredits } from './units.ts';

/** The life of credits whose lot has expired before they come back, where the request names none (D42). */
const renewal = 30 * 24 * 60 * 60 * 1000;

/** A reversal of an entry, as it is asked for. */
export interface Reversal {
  /** Number of the entry. */
  readonly entry: number;
  readonly credits: bigint | null;
  readonly expires: number | null;
}

/** Gives back what an entry took: first what no lot had, then its lots, the last one first (D74). */
export function reverse(
  ledger: ReferenceLedger,
  { entry, credits: asked, expires }: Reversal,
  at: number,
): void {
  const { books } = ledger;
  const taken = books.taken[entry];
  // Asked of a state before the entry: its id was known by then only to who had read it elsewhere.
  if (!taken) throw new Refused({ reason: 'unknown_entry', entry }, false);
  const left = taken.credits - taken.reversed;
  const credits = asked ?? left;
  if (left === 0n || credits > left) {
    const [some, requested] = [shownCredits(left), shownCredits(credits)];
    throw new Refused({ reason: 'reversal_exceeded', left: some, requested });
  }
  if (expires !== null && isOver(expires, at)) {
    throw new Refused({ reason: 'credits_expired', expires_at: shownInstant(expires) }, false);
  }
  const nowhere: Lot = {
    number: 0,
    isPurchased: true,
    priority: null,
    from: at,
    expires: null,
    left: taken.credits - total(taken.parts),
  };
  const renewed = expires ?? at + renewal;
  const row = [nowhere, ...taken.parts.toReversed()].map((part) => ({ ...part }));
  take(row, taken.reversed);
  const back = take(row, credits);
  const own = back.filter(({ number }) => number === 0);
  const lots = inOrder(
    back
      .filter(({ number }) => number !== 0)
      .map((part) => ({ ...lotNow(books, part, renewed, at), from: at, left: part.left })),
  );
  // A debt is paid first: by what no lot had, and then in the order in which lots are spent.
  const owed = debt(books);
  const paid = total(take(own, owed));
  take(lots, owed - paid);
  const returned = lots.filter(({ left: some }) => some > 0n);
  for (const lot of returned) putBackRenewed(books, lot);
  const reversed = taken.reversed + credits;
  books.taken = { ...books.taken, [entry]: { ...taken, reversed } };
  const number = ledger.entry('DebitReversed', 'CREDIT_ADJUSTMENT', credits, credits, {
    reverses: entry,
    reversed: shownCredits(reversed),
    renewed: shownInstant(renewed),
    returned: returned.map((lot) => shownLot(books, lot)),
    available: shownCredits(total(own)),
  });
  if (total(own) > 0n) ledger.open({ ...nowhere, number, left: total(own) });
}

/** A lot as it is by now: where it is gone because its time was over, it gets another. */
function lotNow(books: Books, { number }: Lot, renewed: number, at: number): Lot {
  const lot = books.lots.find((other) => other.number === number) ?? books.known[number];
  if (!lot) throw new Error(`nobody knows lot ${number}`);
  const isGone = lot.expires !== null && isOver(lot.expires, at);
  return { ...lot, expires: isGone ? renewed : lot.expires };
}

function putBackRenewed(books: Books, lot: Lot): void {
  const open = books.lots.find(({ number }) => number === lot.number);
  books.lots = books.lots.filter((other) => other !== open);
  if (!open) books.lots.push({ ...lot, refilled: null });
  else {
    // What it has kept until now was there before; what comes back was not.
    const refilled = refill(open, lot.from);
    books.lots.push({ ...lot, from: open.from, refilled, left: lot.left + open.left });
  }
  books.known = { ...books.known, [lot.number]: lot };
}

function shownLot(books: Books, { number, isPurchased, priority, expires, left }: Lot) {
  const now = books.lots.find((lot) => lot.number === number)?.left ?? 0n;
  return {
    lot: number,
    credits: shownCredits(left),
    remaining: shownCredits(now),
    isPurchased,
    priority,
    expires: shownInstant(expires),
  };
}

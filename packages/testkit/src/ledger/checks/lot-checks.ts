import { inOrder, type Lot, take, takeSince, thereSince } from '../books.ts';
import type { Data, History, HistoryEvent } from '../history.ts';
import { creditsOf, shownCredits } from '../units.ts';
import { checker, must } from './fault.ts';
import { Replay } from './replay.ts';

/**
 * I3: lots, holds and debt add up to the balance; the credits of a lot are consumed, expired, held
 * or left; credits are taken in draw-down order (D23), and never from a lot that has expired.
 */
export const checkLots = checker('I3', (history: History) => {
  const replay = new Replay();
  for (const event of history) {
    assertDrawOrder(replay, event);
    replay.take(event);
    assertRemaining(replay, event);
    assertSums(replay, event);
  }
});

/** The draws that the rules ask for, from the lots as they are before the event. */
function assertDrawOrder(replay: Replay, event: HistoryEvent): void {
  const { type, data } = event;
  if (!['CreditsDebited', 'CreditsHeld', 'HoldCaptured'].includes(type)) return;
  // A bonus is taken back where it lies, whatever the order says.
  const open = replay.openLots().filter(({ id }) => (data.takes_back ?? id) === id);
  const all = inOrder(open.map((lot) => ({ ...lot })));
  const hold = type === 'HoldCaptured' ? replay.holds.get(data.hold_id) : undefined;
  const parts = (hold?.parts ?? []).map((part) => ({ ...part }));
  const credits = creditsOf(data.credits);
  const own = take(parts, credits);
  const missing = credits - own.reduce((sum, { left }) => sum + left, 0n);
  // What is dated back comes out of what was there then, and out of the rest when the wallet may owe.
  const dated = type === 'CreditsDebited' ? data.effective_at : data.debit_effective_at;
  const from = dated ?? event.metadata.occurred_at;
  const beyond = takeSince(all, missing, Date.parse(from));
  const then = openThen(replay, Date.parse(from));
  const mayOwe = replay.created.wallet_type === 'POST_PAID';
  must(mayOwe || missing <= then, event, 'takes what was not there at its instant');
  const due = replay.datings.get(data.hold_id) ?? event.metadata.occurred_at;
  const isInTime = type !== 'HoldCaptured' || data.effective_at === due;
  must(isInTime, event, 'counts from another instant than its hold was made for');
  for (const lot of beyond) {
    const isSpendable =
      lot.expires === null || lot.expires > Date.parse(event.metadata.occurred_at);
    must(isSpendable, event, `takes credits of entry ${lot.number}, which have expired`);
  }
  const right = JSON.stringify(summed([...own, ...beyond]));
  const drawn = data.drawn.map((draw: Data) => {
    return [replay.lotOf(event, draw.transaction_id).number, draw.credits];
  });
  must(JSON.stringify(drawn) === right, event, `draws ${JSON.stringify(drawn)}, not ${right}`);
}

/** Credits of lots that were there at a moment and have been there since. */
const openThen = (replay: Replay, moment: number): bigint =>
  replay.openLots().reduce((sum, lot) => sum + thereSince(lot, moment), 0n);

/** One line per lot, at the place of its first part. */
function summed(parts: readonly Lot[]): [number, string][] {
  const byLot = new Map<number, bigint>();
  for (const { number, left } of parts) byLot.set(number, (byLot.get(number) ?? 0n) + left);
  return [...byLot].map(([number, credits]) => [number, shownCredits(credits)]);
}

/** Asserts that each event states what is left of a lot as it is. */
function assertRemaining(replay: Replay, event: HistoryEvent): void {
  for (const draw of [...(event.data.drawn ?? []), ...(event.data.returned ?? [])]) {
    const left = shownCredits(replay.lotOf(event, draw.transaction_id).left);
    must(draw.remaining === left, event, `says that ${draw.remaining} is left, it is ${left}`);
  }
}

function assertSums(replay: Replay, event: HistoryEvent): void {
  const left = replay.openLots().reduce((sum, lot) => sum + lot.left, 0n);
  const debt = left + replay.heldOf(null) - replay.balance;
  must(debt >= 0n, event, 'the balance is more than lots and holds have');
  const mayOwe = replay.created.wallet_type === 'POST_PAID';
  must(debt === 0n || mayOwe, event, 'lots and holds are more than the balance');
  must(debt === 0n || left === 0n, event, 'a wallet that owes has credits in its lots');
  for (const lot of replay.lots.values()) {
    const accounted = lot.consumed + lot.expired + lot.left + replay.heldOf(lot.number);
    must(lot.granted === accounted, event, `credits of entry ${lot.number} are lost or made`);
  }
}

/**
 * I4: a PRE_PAID balance is never negative and always covers what is held; a hold ends once, and no
 * more is captured than was held.
 */
export const checkNoNegative = checker('I4', (history: History) => {
  const replay = new Replay();
  for (const event of history) {
    replay.take(event);
    if (replay.created.wallet_type === 'POST_PAID') continue;
    must(replay.balance >= 0n, event, `the balance is ${shownCredits(replay.balance)}`);
    must(replay.held() <= replay.balance, event, 'more is held than the balance');
    const after = event.data.credit_balance_after;
    must(after === undefined || creditsOf(after) >= 0n, event, `the balance is ${after}`);
  }
});

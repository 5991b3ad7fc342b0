import { conclude } from './orders.ts';
import type { ReferenceLedger } from './reference-ledger.ts';

/** The part of one wallet in a debit of its customer (D76). */
export type SharePart =
  /** Pays what is missing, in the smallest parts of an amount, or sets aside all that it has. */
  | {
      readonly kind: 'take';
      readonly missing: bigint;
      readonly reason: string;
      readonly from: Moment;
    }
  /** Gives what it had set aside. */
  | {
      readonly kind: 'capture';
      readonly hold: string;
      readonly reason: string;
      readonly from: Moment;
    }
  /** Gets back what it had set aside, if it had: the debit was refused. */
  | { readonly kind: 'give-up'; readonly hold: string | null; readonly from: Moment };

/** The moment from which the debit counts; null unless it is dated back. */
type Moment = number | null;

/** Does the part of a wallet in a debit over several. `newHold` is the id of a hold that it may make. */
export function doShare(
  ledger: ReferenceLedger,
  part: SharePart,
  at: number,
  newHold: string,
): void {
  switch (part.kind) {
    case 'take':
      take(ledger, part, at, newHold);
      return;
    case 'capture':
      ledger.due(at);
      ledger.capture(ledger.openHold(part.hold), undefined, true, part.reason, part.from);
      conclude(ledger, at);
      return;
    case 'give-up':
      if (ledger.books.status === 'closed') return;
      ledger.due(at);
      if (part.hold !== null) ledger.release(ledger.openHold(part.hold), 'voided', at);
      ledger.due(at, at);
      conclude(ledger, at, part.from === null ? 'refused_debit' : undefined);
      return;
    default:
      part satisfies never;
  }
}

/** Pays or sets aside. Nobody judges what is set aside until the debit has ended. */
function take(
  ledger: ReferenceLedger,
  { missing, reason, from }: Extract<SharePart, { kind: 'take' }>,
  at: number,
  newHold: string,
): void {
  if (ledger.books.status !== 'active') return;
  ledger.due(at);
  const credits = creditsPaying(missing, ledger.rate);
  const there = ledger.fundsSince(from);
  if (credits > there && !ledger.mayOwe && there > 0n) {
    ledger.hold(newHold, there, null, { from });
    return;
  }
  if (credits <= there || ledger.mayOwe) ledger.debit(credits, reason, from);
  conclude(ledger, at);
}

/** The fewest credits that are worth an amount: both in their smallest parts, as is the rate. */
export function creditsPaying(amount: bigint, rate: bigint): bigint {
  return (amount + rate - 1n) / rate;
}

import {
  commitmentText,
  lineText,
  type ModelLine,
  type Moment,
  type Stretch,
  usageText,
} from './life.ts';
import { common, movedStretch, type OwnTime } from './own-time.ts';
import type { Piece } from './pieces.ts';

/** A period, and the time that its price is for. */
interface Billed {
  readonly window: Stretch;
  readonly whole: Stretch;
}

/** Money that was charged in advance. */
interface Paid {
  readonly name: string;
  span: Stretch;
  readonly cents: bigint;
  credited: bigint;
  /** True where nothing of it is given back: it is of an add-on that was sold once (E 11.5). */
  isFinal: boolean;
}

/** Money that was paid in advance, and given back of it. */
export class Payments {
  readonly #time: OwnTime;
  readonly #paid: Paid[] = [];

  constructor(time: OwnTime) {
    this.#time = time;
  }

  /** Pays a price for a whole stretch, for a part of it. */
  payPart(
    { name, isOnce: isFinal }: Piece,
    price: number,
    span: Stretch,
    whole: Stretch,
  ): string[] {
    const cents = this.#time.share(price, span, whole);
    this.#paid.push({ name, span, cents, credited: 0n, isFinal });
    return [lineText('charge', name, span, cents)];
  }

  /** Pays the lines that are invoiced in advance, for a period. */
  payAll(pieces: readonly Piece[], { window, whole }: Billed): string[] {
    return pieces.flatMap((piece) => {
      const part = common(piece, window);
      if (piece.kind !== 'advance' || part === null) return [];
      return this.payPart(piece, piece.cents * piece.quantity, part, whole);
    });
  }

  /** Pays new lines for the rest of a period. Not prorated only what would be left out else: a line that is sold once, whole. */
  payRest(pieces: readonly Piece[], billed: Billed, prorates: boolean): string[] {
    return pieces.flatMap((piece) => {
      const isPart = !prorates && piece.from > billed.window.from;
      if (!isPart) return this.payAll([piece], billed);
      const part = piece.isOnce ? common(piece, billed.window) : null;
      return part === null ? [] : this.payAll([piece], { window: billed.window, whole: part });
    });
  }

  /** Gives back what was paid for the time from an instant on: of one line, or of all. */
  giveBack(at: Moment, name?: string): string[] {
    return this.#ahead(at, name).flatMap((paid) => {
      const rest = { from: Math.max(paid.span.from, at), to: paid.span.to };
      const unused = this.#time.share(paid.cents, rest, paid.span) - paid.credited;
      const left = paid.cents - paid.credited;
      const back = unused < left ? unused : left;
      if (paid.isFinal || back <= 0n) return [];
      paid.credited += back;
      return [lineText('credit', paid.name, rest, back)];
    });
  }

  /** Tells whether a line has cost something for time after an instant. */
  isPaid(name: string, at: Moment): boolean {
    return this.#ahead(at, name).length > 0;
  }

  /** Lets what was paid of a line be given back, though it was sold once. */
  giveUp(name: string): void {
    for (const paid of this.#ahead(0, name)) paid.isFinal = false;
  }

  move(pause: Stretch): void {
    for (const paid of this.#paid) paid.span = movedStretch(paid.span, pause);
  }

  #ahead(at: Moment, name?: string): readonly Paid[] {
    return this.#paid.filter(
      (paid) => (name === undefined || paid.name === name) && paid.span.to > at && paid.cents > 0n,
    );
  }
}

/** The charges in arrears of one line for a stretch of time; usage with its commitment. */
export function arrearsFor(
  { kind, name, cents, quantity, commitment }: ModelLine,
  part: Stretch,
  whole: Stretch,
  time: OwnTime,
): string[] {
  if (kind === 'advance') return [];
  if (kind === 'arrear') {
    return [lineText('charge', name, part, time.share(cents * quantity, part, whole))];
  }
  const usage = usageText(name, part, time.unbilled(part));
  if (commitment === null) return [usage];
  const committed = time.share(commitment.cents, part, whole);
  return [usage, commitmentText(name, part, committed, commitment.truesUp)];
}

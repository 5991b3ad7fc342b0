import {
  type Applied,
  billed,
  type FullLine,
  netOf,
  type PlainLine,
  pay,
  sumOf,
  worthOf,
} from './bill.ts';
import { type Fraction, inUnits, minus, nothing, rounded, shown } from './fraction.ts';
import type {
  BilledDiscount,
  BilledLife,
  BilledUse,
  BilledWallet,
  Moment,
  ShownBill,
  Stretch,
} from './life.ts';
import type { Charge, Entry, Piece } from './pieces.ts';
import { costOf } from './prices.ts';
import { chargedUse } from './usage.ts';

/** Usage that was settled once, with what was billed of it since. */
interface Settled {
  readonly period: number;
  /** The number of the closing that it belongs to, or that came next. */
  readonly place: number;
  readonly usage: readonly { readonly piece: Piece; readonly span: Stretch }[];
  readonly billed: Map<Piece, { units: bigint; quantity: Fraction }>;
  /** True once its invoice is final. */
  isOver: boolean;
}

/** The end of a period, or of the subscription, that is billed: on its invoice comes what was late. */
interface Closing {
  readonly at: Moment;
  /** True once its invoice is final. */
  isOver: boolean;
}

/** An invoice that is to come. */
interface Draft {
  readonly reason: ShownBill['reason'];
  readonly at: Moment;
  /** Null: it closes nothing. */
  readonly closing: Closing | null;
  readonly parts: readonly {
    readonly period: number;
    readonly entries: readonly Entry[];
    /** The usage that it settles; null where it settles none. */
    readonly settled: Settled | null;
  }[];
}

/** The outcome of a life: its invoices in the order in which they were made final, and the credits that are left. */
export interface Billed {
  readonly bills: readonly ShownBill[];
  readonly balance: string;
}

/** The invoices of a life, from what is settled to what is final (E 8.4, 15.3, 20, 21; D57, D58, D61). */
export class Billing {
  readonly #life: BilledLife;
  readonly #drafts: Draft[] = [];
  readonly #settled: Settled[] = [];
  readonly #closings: Closing[] = [];
  readonly #wallets: { units: bigint; readonly pays: BilledWallet['pays'] }[];
  readonly #used = new Set<BilledDiscount>();
  readonly #numbers = new Map<string, number>();
  readonly #bills: ShownBill[] = [];

  /** The instant at which the subscription has ended; null while it lasts. */
  ended: Moment | null = null;

  constructor(life: BilledLife) {
    this.#life = life;
    this.#wallets = life.wallets.map(({ units, pays }) => ({ units: BigInt(units), pays }));
  }

  /** The instant at which the next invoice is final; null: none is to come. */
  get next(): Moment | null {
    return this.#drafts[0]?.at ?? null;
  }

  get result(): Billed {
    const left = this.#wallets.reduce((sum, { units }) => sum + units, 0n);
    return { bills: this.#bills, balance: this.#text(left) };
  }

  #text(units: bigint): string {
    return inUnits(units, this.#life.digits);
  }

  /** Money that the customer is given: credits of the first wallet, or of a new one. */
  give(units: bigint): void {
    if (units <= 0n) return;
    if (this.#wallets.length === 0) this.#wallets.push({ units: 0n, pays: 'USAGE' });
    const [first] = this.#wallets;
    if (first) first.units += units;
  }

  /** @param closes the instant that it closes something at; null: it closes nothing */
  draft(
    reason: ShownBill['reason'],
    at: Moment,
    parts: readonly (readonly [number, readonly Entry[]])[],
    closes: Moment | null,
  ): void {
    const place = this.#closings.length;
    const drafted = parts.map(([period, entries]) => {
      const usage = entries.flatMap((each) => (each.kind === 'usage' ? [each] : []));
      const settled =
        usage.length > 0 ? { period, place, usage, billed: new Map(), isOver: false } : null;
      if (settled) this.#settled.push(settled);
      return { period, entries, settled };
    });
    const closing = closes === null ? null : { at: closes, isOver: false };
    if (closing) this.#closings.push(closing);
    this.#drafts.push({ reason, at, closing, parts: drafted });
    this.#drafts.sort((one, other) => one.at - other.at);
  }

  /** Makes the first draft final, with everything that can be counted by then. */
  finalize(): void {
    const draft = this.#drafts.shift();
    if (!draft) return;
    const { reason, at, closing } = draft;
    const uses = this.#life.uses.filter(({ arrives }) => arrives <= at);
    const charges: (Charge | null)[] = [];
    const plain = draft.parts.flatMap((part, index): PlainLine[] => {
      const lines = [
        ...this.#usage(part, uses),
        ...part.entries.flatMap((each) => {
          if (each.kind !== 'charge') return [];
          return [fixedLine(each, part.period)];
        }),
        ...[...part.entries, ...waitingOf(part.entries)].flatMap((each) =>
          each.kind === 'credit' ? [creditLine(each, part.period)] : [],
        ),
      ];
      const own = part.entries.flatMap((each) => (each.kind === 'charge' ? [each.charge] : []));
      const usage = lines.filter(({ kind }) => kind === 'usage').length;
      charges.push(...Array.from({ length: usage }, () => null), ...own);
      // What was late stands behind what is closed, where something is.
      const late = closing && index === 0 ? this.#late(closing, uses) : [];
      const rest = lines.length - usage - own.length + late.length;
      charges.push(...Array.from({ length: rest }, () => null));
      return [...lines, ...late];
    });
    const over = draft.parts.flatMap(({ settled }) => settled ?? []);
    for (const each of over) each.isOver = true;
    if (closing) closing.isOver = true;
    for (const charge of charges) if (charge) charge.waiting = null;
    if (plain.every(({ units }) => units === 0n)) {
      this.#show(reason, null, billed(plain, [], []).lines);
      return;
    }
    const { rates, isExempt } = this.#life;
    const { lines, counted } = billed(plain, this.#discounts(), isExempt ? [] : rates);
    for (const discount of counted) if (discount.counts === 'once') this.#used.add(discount);
    for (const wallet of this.#wallets) wallet.units -= pay(lines, wallet.units, wallet.pays);
    for (const [place, charge] of charges.entries()) {
      const line = lines[place];
      if (charge && line) [charge.net, charge.tax] = [netOf(line), line.tax];
    }
    this.give(-worthOf(lines));
    this.#show(reason, this.#number(at), lines);
  }

  #usage({ settled, period }: Draft['parts'][number], uses: readonly BilledUse[]): PlainLine[] {
    return (settled?.usage ?? []).map(({ piece, span }) => {
      const { quantity, units } = this.#rated(piece, span, uses);
      settled?.billed.set(piece, { units, quantity });
      return {
        ...{ kind: 'usage', name: piece.item.name, ...span, period, isNet: false },
        ...{ quantity: shown(quantity), units, isInclusive: piece.item.isInclusive },
      };
    });
  }

  #rated({ item }: Piece, span: Stretch, uses: readonly BilledUse[]) {
    const quantity = chargedUse(this.#life, item.name, span, uses);
    const { upper, lower } = costOf(item.price, quantity);
    const units = rounded({ upper: upper * 10n ** BigInt(this.#life.digits), lower });
    return { quantity, units };
  }

  /** Tells whether a closing looks again at what was settled: twelve times in a row, then at distances of 16, 32 and so on, and in the end at all. */
  #looks(number: number, { place }: Settled): boolean {
    const distance = number - place;
    if (distance < 0) return false;
    if (distance <= 12 || this.#closings[number]?.at === this.ended) return true;
    return Number.isInteger(Math.log2(distance));
  }

  /** Usage of periods that are billed: what it comes to now, less what was billed of it (D61). */
  #late(own: Closing, uses: readonly BilledUse[]): PlainLine[] {
    const looked = this.#settled.filter((each) => this.#looks(this.#closings.indexOf(own), each));
    // Each of those that look at it has to be final, so that no two of them bill the same.
    const isReady = (one: Settled) =>
      one.isOver &&
      this.#closings.every(
        (each, number) => each === own || each.isOver || !this.#looks(number, one),
      );
    return looked.filter(isReady).flatMap(({ period, usage, billed: known }) =>
      usage.flatMap(({ piece, span }) => {
        const now = this.#rated(piece, span, uses);
        const before = known.get(piece) ?? { units: 0n, quantity: nothing };
        const units = now.units - before.units;
        if (units === 0n) return [];
        const quantity = minus(now.quantity, before.quantity);
        known.set(piece, now);
        return {
          ...{ kind: 'late_usage' as const, name: piece.item.name, ...span, period, isNet: false },
          ...{ quantity: shown(quantity), units, isInclusive: piece.item.isInclusive },
        };
      }),
    );
  }

  #discounts(): readonly Applied[] {
    const free = this.#life.discounts.filter((each) => !this.#used.has(each));
    return free.map((discount) => ({
      discount,
      fits: (line) => {
        const { counts } = discount;
        if (line.isNet || (discount.line !== null && discount.line !== line.name)) return false;
        return typeof counts === 'string' || line.period < counts.periods;
      },
    }));
  }

  #number(at: Moment): string {
    const month = new Date(at).toISOString().slice(0, 7).replace('-', '');
    const number = (this.#numbers.get(month) ?? 0) + 1;
    this.#numbers.set(month, number);
    return `INV-${month}-${String(number).padStart(5, '0')}`;
  }

  #show(reason: ShownBill['reason'], number: string | null, lines: readonly FullLine[]): void {
    const text = (units: bigint): string => this.#text(units);
    const worth = worthOf(lines);
    this.#bills.push({
      ...{ reason, number },
      lines: lines.map((line) => ({
        ...{ kind: line.kind, name: line.name, from: line.from, to: line.to },
        ...{ quantity: line.quantity, amount: text(line.units) },
        ...{ line_discount: text(line.off), invoice_discount: text(line.shared) },
        ...{ credits: text(line.paid), tax: text(line.tax), included_tax: text(line.within) },
      })),
      subtotal: text(sumOf(lines, ({ units }) => units)),
      total_discount: text(sumOf(lines, ({ off, shared }) => off + shared)),
      total_credits: text(sumOf(lines, ({ paid }) => paid)),
      total_tax: text(sumOf(lines, ({ tax, within }) => tax + within)),
      is_exempt: this.#life.isExempt && this.#life.rates.length > 0,
      total: text(worth > 0n ? worth : 0n),
    });
  }
}

/** Credits of the charges of an invoice before it is final. */
const waitingOf = (entries: readonly Entry[]): readonly Entry[] =>
  entries.flatMap((each) => (each.kind === 'charge' ? (each.charge?.waiting ?? []) : []));

const fixedLine = (
  { piece, span, quantity, units }: Extract<Entry, { kind: 'charge' }>,
  period: number,
): PlainLine => ({
  ...{ kind: 'fixed', name: piece.item.name, ...span, period, isNet: false },
  ...{ quantity: String(quantity), units, isInclusive: piece.item.isInclusive },
});

const creditLine = (
  { piece, span, units, isNet }: Extract<Entry, { kind: 'credit' }>,
  period: number,
): PlainLine => ({
  ...{ kind: 'credit', name: piece.item.name, ...span, period, isNet },
  ...{ quantity: '1', units: -units, isInclusive: piece.item.isInclusive },
});

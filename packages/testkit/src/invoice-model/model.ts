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
  BilledAct,
  BilledDiscount,
  BilledItem,
  BilledLife,
  BilledUse,
  Moment,
  ShownBill,
  Stretch,
} from './life.ts';
import { boundary, common, hour, wholeOf } from './periods.ts';
import {
  type Charge,
  chargeOf,
  creditOf,
  dearer,
  type Entry,
  fullPrice,
  ownPeriods,
  type Piece,
  partOf,
} from './pieces.ts';
import { costOf } from './prices.ts';
import { chargedUse } from './usage.ts';

const never: Moment = Number.MAX_SAFE_INTEGER;
/** Usage that is on its way has so long before an invoice of a period is final. */
const delay = 2 * hour;
/** Settlements of usage that are looked at again with each one that follows. */
const lookedBack = 3;

/** Usage that was settled once, with what was billed of it since. */
interface Settled {
  readonly period: number;
  readonly usage: readonly { readonly piece: Piece; readonly span: Stretch }[];
  readonly billed: Map<Piece, { units: bigint; quantity: Fraction }>;
  /** True once its invoice is final. */
  isOver: boolean;
}

/** An invoice that is to come. */
interface Draft {
  readonly reason: ShownBill['reason'];
  readonly at: Moment;
  readonly parts: readonly {
    readonly period: number;
    readonly entries: readonly Entry[];
    /** The usage that it settles, and that which is looked at again; null where it settles none. */
    readonly settled: Settled | null;
    readonly earlier: readonly Settled[];
  }[];
}

/** What became of a life: its invoices in the order in which they were made final, and the credits that are left. */
export interface Billed {
  readonly bills: readonly ShownBill[];
  readonly balance: string;
}

/**
 * The invoices of a subscription by the rules of the documents (E 8.4, 11, 12, 15.3, 20, 21; D31, D32, D57, D58, D61, D63, D64), in
 * whole units of the currency and plain milliseconds. It shares nothing with the service.
 */
class InvoiceModel {
  readonly #life: BilledLife;
  #pieces: Piece[];
  #charges: Charge[] = [];
  #period = 0;
  #ended = never;
  #cancelAt: { readonly at: Moment; readonly prorates: boolean } | null = null;
  readonly #drafts: Draft[] = [];
  readonly #settled: Settled[] = [];
  readonly #wallets: { units: bigint; readonly pays: 'USAGE' | 'ALL' }[];
  readonly #used = new Set<BilledDiscount>();
  readonly #numbers = new Map<string, number>();
  readonly #bills: ShownBill[] = [];

  constructor(life: BilledLife) {
    this.#life = life;
    this.#pieces = life.items.map((item) => this.#piece(item, life.start));
    this.#wallets = life.wallets.map(({ units, pays }) => ({ units: BigInt(units), pays }));
  }

  run(): Billed {
    const { acts, until, start } = this.#life;
    this.#open(start, []);
    for (const act of acts) {
      this.#passTo(act.at);
      if (this.#ended !== never) break;
      this.#act(act);
    }
    this.#passTo(until);
    const left = this.#wallets.reduce((sum, { units }) => sum + units, 0n);
    return { bills: this.#bills, balance: this.#text(left) };
  }

  #text(units: bigint): string {
    return inUnits(units, this.#life.digits);
  }

  #piece(item: BilledItem, from: Moment): Piece {
    return { item, quantity: item.quantity, since: from, from, to: never };
  }

  get #window(): Stretch {
    const life = this.#life;
    return { from: boundary(life, this.#period), to: boundary(life, this.#period + 1) };
  }

  /** Everything that time does up to an instant, with it. */
  #passTo(at: Moment): void {
    for (;;) {
      const ends = this.#ended === never ? this.#window.to : never;
      const cancels = this.#cancelAt?.at ?? never;
      const final = this.#drafts[0]?.at ?? never;
      const next = Math.min(ends, cancels, final);
      if (next > at) return;
      if (ends === next) this.#turn();
      else if (cancels === next) this.#end(next, this.#cancelAt?.prorates ?? false);
      else this.#finalize();
    }
  }

  /** A period closes, and the next one opens, unless the subscription ends with it. */
  #turn(): void {
    const at = this.#window.to;
    const closed = this.#closed(this.#window, at);
    const isLast = this.#cancelAt?.at === at;
    if (!isLast) {
      this.#period += 1;
      this.#open(at, closed);
      return;
    }
    if (closed.length > 0) this.#draft('SUBSCRIPTION_CYCLE', at + delay, [[this.#period, closed]]);
    const back = this.#cancelAt?.prorates ? this.#creditsOfAll(at) : [];
    this.#ended = at;
    this.#cancelAt = null;
    this.#settle('PRORATION', at, back);
  }

  #isLonger({ item }: Piece): boolean {
    return item.months > this.#life.months;
  }

  #open(at: Moment, closed: readonly Entry[]): void {
    const window = this.#window;
    const opened = this.#pieces.flatMap((piece) => {
      if (piece.item.kind !== 'advance') return [];
      if (!this.#isLonger(piece)) {
        return this.#advance(piece, common(piece, window), wholeOf(this.#life, this.#period));
      }
      return ownPeriods(piece, window)
        .filter(({ from }) => from >= window.from && from >= piece.from && from < piece.to)
        .flatMap((own) => this.#advance(piece, common(own, piece), own));
    });
    if (closed.length + opened.length === 0) return;
    const isFirst = this.#period === 0;
    this.#draft(isFirst ? 'SUBSCRIPTION_CREATE' : 'SUBSCRIPTION_CYCLE', isFirst ? at : at + delay, [
      ...(closed.length > 0 ? [[this.#period - 1, closed] as const] : []),
      ...(opened.length > 0 ? [[this.#period, opened] as const] : []),
    ]);
  }

  #advance(piece: Piece, span: Stretch | null, whole: Stretch): Entry[] {
    if (span === null) return [];
    const units = partOf(fullPrice(piece), span, whole, this.#life.digits);
    return [this.#charged(chargeOf(piece, span, units))];
  }

  #charged(entry: Extract<Entry, { kind: 'charge' }>): Entry {
    if (entry.charge !== null) this.#charges.push(entry.charge);
    return entry;
  }

  #arrear(piece: Piece, span: Stretch | null, whole: Stretch): Entry[] {
    if (span === null) return [];
    const { quantity } = piece;
    const units = partOf(fullPrice(piece), span, whole, this.#life.digits);
    return [{ kind: 'charge', piece, span, quantity, units, charge: null }];
  }

  /** What is owed in arrears for a stretch of time up to an instant. */
  #closed(window: Stretch, at: Moment): Entry[] {
    const time = { from: window.from, to: at };
    const whole = wholeOf(this.#life, this.#period);
    return this.#pieces.flatMap((piece): Entry[] => {
      const span = common(piece, time);
      if (piece.item.kind === 'usage') return span === null ? [] : [{ kind: 'usage', piece, span }];
      if (piece.item.kind === 'advance') return [];
      if (!this.#isLonger(piece)) return this.#arrear(piece, span, whole);
      const lasting = { from: piece.from, to: Math.min(piece.to, this.#endAt(at)) };
      return ownPeriods(piece, time).flatMap((own) => {
        const part = common(own, lasting);
        return part !== null && part.to > time.from && part.to <= at
          ? this.#arrear(piece, part, own)
          : [];
      });
    });
  }

  /** The end that lines have while they are settled up to an instant: where the subscription ends there, that. */
  #endAt(at: Moment): Moment {
    return at < this.#window.to || this.#cancelAt?.at === at ? at : never;
  }

  #end(at: Moment, prorates: boolean): void {
    const closed = this.#closed(this.#window, at);
    const back = prorates ? this.#creditsOfAll(at) : [];
    this.#ended = at;
    this.#cancelAt = null;
    this.#settle('PRORATION', at, [...closed, ...back]);
  }

  /** The credits of all lines that have not ended: one that has was settled then. */
  #creditsOfAll(at: Moment): Entry[] {
    return this.#pieces.filter(({ to }) => to > at).flatMap((piece) => this.#creditsOf(piece, at));
  }

  #creditsOf(piece: Piece, at: Moment): Entry[] {
    return this.#charges
      .filter(({ holder, span }) => holder === piece && span.to > at)
      .flatMap((charge) => creditOf(charge, at) ?? []);
  }

  #act(act: BilledAct): void {
    const { at, prorates } = act;
    switch (act.kind) {
      case 'quantity':
        this.#changeQuantity(act.line, act.quantity, at);
        break;
      case 'add':
        this.#add(this.#piece(act.item, at), prorates);
        break;
      case 'remove': {
        const piece = this.#current(act.line);
        if (piece === undefined) break;
        piece.to = at;
        this.#settle('SUBSCRIPTION_UPDATE', at, prorates ? this.#creditsOf(piece, at) : []);
        break;
      }
      case 'cancel':
        this.#end(at, prorates);
        break;
      case 'cancel at end':
        this.#cancelAt = { at: this.#window.to, prorates };
        break;
      case 'cancel on':
        this.#cancelAt = { at: act.on, prorates };
    }
  }

  /** A new line is charged for the rest of the period, where that is in proportion; a longer period of its own in any case. */
  #add(piece: Piece, prorates: boolean): void {
    const { from } = piece;
    this.#pieces.push(piece);
    if (piece.item.kind !== 'advance') return;
    const rest = { from, to: this.#window.to };
    if (this.#isLonger(piece)) {
      const [own = rest] = ownPeriods(piece, rest);
      this.#settle('SUBSCRIPTION_UPDATE', from, this.#advance(piece, own, own));
    } else if (prorates) {
      const whole = wholeOf(this.#life, this.#period);
      this.#settle('SUBSCRIPTION_UPDATE', from, this.#advance(piece, rest, whole));
    }
  }

  #current(name: string): Piece | undefined {
    return this.#pieces.find(({ item, to }) => item.name === name && to === never);
  }

  /** A line that costs more is charged for what is added; one that costs less is given back, and charged again (E 11.4). */
  #changeQuantity(name: string, quantity: number, at: Moment): void {
    const piece = this.#current(name);
    if (piece === undefined || piece.quantity === quantity) return;
    const next: Piece = { ...piece, quantity, from: at };
    piece.to = at;
    this.#pieces.push(next);
    const paid = this.#charges.filter(({ holder, span }) => holder === piece && span.to > at);
    for (const charge of paid) charge.holder = next;
    if (piece.item.kind !== 'advance') return;
    const { digits } = this.#life;
    const more = dearer(next, piece);
    const rests = this.#restsOf(next, at);
    if (more.upper > 0n) {
      const entries = rests.map(({ span, whole }) =>
        this.#charged(
          chargeOf(next, span, partOf(more, span, whole, digits), quantity - piece.quantity),
        ),
      );
      this.#settle('SUBSCRIPTION_UPDATE', at, entries);
      return;
    }
    // A line that is free until the next period stays so.
    const isFree = !paid.some(({ units }) => units > 0n) && fullPrice(piece).upper > 0n;
    if (more.upper === 0n || isFree) return;
    const back = this.#creditsOf(next, at);
    const again = rests.flatMap(({ span, whole }) => this.#advance(next, span, whole));
    this.#settle('SUBSCRIPTION_UPDATE', at, [...back, ...again]);
  }

  #restsOf(
    piece: Piece,
    at: Moment,
  ): readonly { readonly span: Stretch; readonly whole: Stretch }[] {
    const rest = { from: at, to: never };
    if (!this.#isLonger(piece)) {
      return [
        { span: { from: at, to: this.#window.to }, whole: wholeOf(this.#life, this.#period) },
      ];
    }
    return ownPeriods(piece, this.#window).flatMap((whole) => {
      const span = common(whole, rest);
      return span === null ? [] : [{ span, whole }];
    });
  }

  /** Settles what an act or an end charges and gives back: what is charged is lowered by that, and the rest goes to the customer. */
  #settle(reason: ShownBill['reason'], at: Moment, entries: readonly Entry[]): void {
    let charged = entries.reduce(
      (sum, each) => sum + (each.kind === 'charge' ? each.units : 0n),
      0n,
    );
    const lowered = entries.flatMap((each): Entry[] => {
      if (each.kind !== 'credit') return [each];
      const within = each.units < charged ? each.units : charged;
      charged -= within;
      const rest = each.units - within;
      const tax = rounded({ upper: each.tax * rest, lower: each.units });
      const { waiting } = each.of;
      // Nothing was paid of what stands on an invoice that is not final: it is lowered by it.
      if (waiting === null) this.#give(rest + tax);
      else if (rest > 0n) waiting.push({ ...each, units: rest });
      return within > 0n ? [{ ...each, units: within }] : [];
    });
    if (entries.some(({ kind }) => kind !== 'credit')) {
      this.#draft(reason, at, [[this.#period, lowered]]);
      this.#passTo(at);
    }
  }

  /** Money that the customer is given: credits of the first wallet, or of a new one. */
  #give(units: bigint): void {
    if (units <= 0n) return;
    if (this.#wallets.length === 0) this.#wallets.push({ units: 0n, pays: 'USAGE' });
    const [first] = this.#wallets;
    if (first) first.units += units;
  }

  #draft(
    reason: ShownBill['reason'],
    at: Moment,
    parts: readonly (readonly [number, readonly Entry[]])[],
  ): void {
    const drafted = parts.map(([period, entries]) => {
      const usage = entries.flatMap((each) => (each.kind === 'usage' ? [each] : []));
      const settled = usage.length > 0 ? { period, usage, billed: new Map(), isOver: false } : null;
      const earlier = settled ? this.#settled.slice(-lookedBack) : [];
      if (settled) this.#settled.push(settled);
      return { period, entries, settled, earlier };
    });
    this.#drafts.push({ reason, at, parts: drafted });
    this.#drafts.sort((one, other) => one.at - other.at);
  }

  /** Makes the first draft final, with everything that can be counted by then. */
  #finalize(): void {
    const draft = this.#drafts.shift();
    if (!draft) return;
    const { reason, at } = draft;
    const uses = this.#life.uses.filter(({ arrives }) => arrives <= at);
    const charges: (Charge | null)[] = [];
    const plain = draft.parts.flatMap((part): PlainLine[] => {
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
      const late = this.#late(part, uses);
      const rest = lines.length - usage - own.length + late.length;
      charges.push(...Array.from({ length: rest }, () => null));
      return [...lines, ...late];
    });
    const over = draft.parts.flatMap(({ settled }) => settled ?? []);
    for (const each of over) each.isOver = true;
    for (const charge of charges) if (charge) charge.waiting = null;
    if (plain.every(({ units }) => units === 0n)) {
      this.#show(reason, null, billed(plain, [], []).lines);
      return;
    }
    const { lines, counted } = billed(plain, this.#discounts(), this.#life.rates);
    for (const discount of counted) if (discount.counts === 'once') this.#used.add(discount);
    for (const wallet of this.#wallets) wallet.units -= pay(lines, wallet.units, wallet.pays);
    for (const [place, charge] of charges.entries()) {
      const line = lines[place];
      if (charge && line) [charge.net, charge.tax] = [netOf(line), line.tax];
    }
    this.#give(-worthOf(lines));
    this.#show(reason, this.#number(at), lines);
  }

  #usage({ settled, period }: Draft['parts'][number], uses: readonly BilledUse[]): PlainLine[] {
    return (settled?.usage ?? []).map(({ piece, span }) => {
      const { quantity, units } = this.#rated(piece, span, uses);
      settled?.billed.set(piece, { units, quantity });
      return {
        ...{ kind: 'usage', name: piece.item.name, ...span, period, isNet: false },
        ...{ quantity: shown(quantity), units },
      };
    });
  }

  #rated({ item }: Piece, span: Stretch, uses: readonly BilledUse[]) {
    const quantity = chargedUse(this.#life, item.name, span, uses);
    const { upper, lower } = costOf(item.price, quantity);
    const units = rounded({ upper: upper * 10n ** BigInt(this.#life.digits), lower });
    return { quantity, units };
  }

  /** Usage of periods that are billed: what it comes to now, less what was billed of it (D61). */
  #late({ earlier, settled }: Draft['parts'][number], uses: readonly BilledUse[]): PlainLine[] {
    // Of those that follow each has to be final, so that no two of them bill the same.
    const follow = this.#settled.filter((each) => each !== settled);
    const isReady = (one: Settled) =>
      follow.slice(follow.indexOf(one)).every(({ isOver }) => isOver);
    return earlier.filter(isReady).flatMap(({ period, usage, billed: known }) =>
      usage.flatMap(({ piece, span }) => {
        const now = this.#rated(piece, span, uses);
        const before = known.get(piece) ?? { units: 0n, quantity: nothing };
        const units = now.units - before.units;
        if (units === 0n) return [];
        const quantity = minus(now.quantity, before.quantity);
        known.set(piece, now);
        return {
          ...{ kind: 'late_usage' as const, name: piece.item.name, ...span, period, isNet: false },
          ...{ quantity: shown(quantity), units },
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
        ...{ credits: text(line.paid), tax: text(line.tax) },
      })),
      subtotal: text(sumOf(lines, ({ units }) => units)),
      total_discount: text(sumOf(lines, ({ off, shared }) => off + shared)),
      total_credits: text(sumOf(lines, ({ paid }) => paid)),
      total_tax: text(sumOf(lines, ({ tax }) => tax)),
      total: text(worth > 0n ? worth : 0n),
    });
  }
}

/** What is given back of the charges of an invoice before it is final. */
const waitingOf = (entries: readonly Entry[]): readonly Entry[] =>
  entries.flatMap((each) => (each.kind === 'charge' ? (each.charge?.waiting ?? []) : []));

const fixedLine = (
  { piece, span, quantity, units }: Extract<Entry, { kind: 'charge' }>,
  period: number,
): PlainLine => ({
  ...{ kind: 'fixed', name: piece.item.name, ...span, period, isNet: false },
  ...{ quantity: String(quantity), units },
});

const creditLine = (
  { piece, span, units, isNet }: Extract<Entry, { kind: 'credit' }>,
  period: number,
): PlainLine => ({
  ...{ kind: 'credit', name: piece.item.name, ...span, period, isNet },
  ...{ quantity: '1', units: -units },
});

/** Recomputes a life: its invoices, figure by figure. */
export const billsOf = (life: BilledLife): Billed => new InvoiceModel(life).run();

import { type Billed, Billing } from './billing.ts';
import { rounded } from './fraction.ts';
import type { BilledAct, BilledItem, BilledLife, Moment, ShownBill, Stretch } from './life.ts';
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

const never: Moment = Number.MAX_SAFE_INTEGER;
/** Usage that is on its way has so long before an invoice of a period is final. */
const delay = 2 * hour;

/**
 * The invoices of a subscription by the rules of the documents (E 11, 12; D31, D32, D63, D64, and those of `Billing`), in whole units of
 * the currency and plain milliseconds. It shares nothing with the service.
 */
class InvoiceModel {
  readonly #life: BilledLife;
  readonly #billing: Billing;
  readonly #pieces: Piece[];
  readonly #charges: Charge[] = [];
  #period = 0;
  #ended = never;
  #cancelAt: { readonly at: Moment; readonly prorates: boolean } | null = null;

  constructor(life: BilledLife) {
    this.#life = life;
    this.#billing = new Billing(life);
    this.#pieces = life.items.map((item) => this.#piece(item, life.start));
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
    return this.#billing.result;
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
      const final = this.#billing.next ?? never;
      const next = Math.min(ends, cancels, final);
      if (next > at) return;
      if (ends === next) this.#turn();
      else if (cancels === next) this.#end(next, this.#cancelAt?.prorates ?? false);
      else this.#billing.finalize();
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
    if (closed.length > 0)
      this.#billing.draft('SUBSCRIPTION_CYCLE', at + delay, [[this.#period, closed]], at);
    const back = this.#cancelAt?.prorates ? this.#creditsOfAll(at) : [];
    this.#ends(at);
    this.#settle('PRORATION', at, back);
  }

  #ends(at: Moment): void {
    this.#ended = at;
    this.#billing.ended = at;
    this.#cancelAt = null;
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
    this.#billing.draft(
      isFirst ? 'SUBSCRIPTION_CREATE' : 'SUBSCRIPTION_CYCLE',
      isFirst ? at : at + delay,
      [
        ...(closed.length > 0 ? [[this.#period - 1, closed] as const] : []),
        ...(opened.length > 0 ? [[this.#period, opened] as const] : []),
      ],
      isFirst ? null : at,
    );
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

  /** Everything that is owed in arrears for a stretch of time up to an instant. */
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

  /** Everything owed of a longer period that a line has begun, and ends right where the period closed: nobody knew of that then. */
  #brokenOff(piece: Piece, at: Moment): Entry[] {
    if (piece.item.kind !== 'arrear' || !this.#isLonger(piece)) return [];
    if (at !== this.#window.from || piece.from >= at || piece.to < at) return [];
    return ownPeriods(piece, { from: piece.from, to: at })
      .filter((own) => own.to > at)
      .flatMap((own) => this.#arrear(piece, common(own, { from: piece.from, to: at }), own));
  }

  /** The end that lines have while they are settled up to an instant: where the subscription ends there, that. */
  #endAt(at: Moment): Moment {
    return at < this.#window.to || this.#cancelAt?.at === at ? at : never;
  }

  #end(at: Moment, prorates: boolean): void {
    const broken = this.#pieces.flatMap((piece) => this.#brokenOff(piece, at));
    const closed = [...broken, ...this.#closed(this.#window, at)];
    const back = prorates ? this.#creditsOfAll(at) : [];
    this.#ends(at);
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
        const broken = this.#brokenOff(piece, at);
        piece.to = at;
        const back = prorates ? this.#creditsOf(piece, at) : [];
        this.#settle('SUBSCRIPTION_UPDATE', at, [...broken, ...back]);
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

  /** A new line is charged for the rest of the period, where that is in proportion or all of it; a longer period of its own in any case. */
  #add(piece: Piece, prorates: boolean): void {
    const { from } = piece;
    this.#pieces.push(piece);
    if (piece.item.kind !== 'advance') return;
    const rest = { from, to: this.#window.to };
    if (this.#isLonger(piece)) {
      const [own = rest] = ownPeriods(piece, rest);
      this.#settle('SUBSCRIPTION_UPDATE', from, this.#advance(piece, own, own));
    } else if (prorates || from === this.#window.from) {
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
    this.#settle('SUBSCRIPTION_UPDATE', at, this.#brokenOff(piece, at));
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
      if (waiting === null) this.#billing.give(rest + tax);
      else if (rest > 0n) waiting.push({ ...each, units: rest });
      return within > 0n ? [{ ...each, units: within }] : [];
    });
    if (entries.some(({ kind }) => kind !== 'credit')) {
      const closes = reason === 'PRORATION' ? at : null;
      this.#billing.draft(reason, at, [[this.#period, lowered]], closes);
      this.#passTo(at);
    }
  }
}

/** Recomputes a life: its invoices, figure by figure. */
export const billsOf = (life: BilledLife): Billed => new InvoiceModel(life).run();

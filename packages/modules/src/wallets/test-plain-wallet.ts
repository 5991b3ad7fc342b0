/**
 * The plainest book-keeping of a wallet, for tests: whole billionths of a credit, whole seconds, and
 * nothing from the code under test. It says what the rules of the README mean.
 */

/** Something that is done to a wallet. Times are seconds from the start. */
export type Act =
  | {
      readonly kind: 'load';
      readonly credits: bigint;
      readonly priority: number | null;
      readonly expires: number | null;
      readonly purchased: boolean;
    }
  | { readonly kind: 'debit'; readonly credits: bigint }
  | {
      readonly kind: 'hold';
      readonly hold: string;
      readonly credits: bigint;
      readonly expires: number | null;
    }
  | { readonly kind: 'capture'; readonly hold: string; readonly credits: bigint | null }
  | { readonly kind: 'void'; readonly hold: string }
  | {
      readonly kind: 'order';
      readonly order: string;
      readonly credits: bigint;
      readonly expires: number | null;
    }
  | { readonly kind: 'complete' | 'cancel'; readonly order: string }
  | { readonly kind: 'alerts'; readonly alarm: bigint | null }
  | { readonly kind: 'automatic'; readonly rule: Rule | null }
  | {
      readonly kind: 'bulk';
      readonly atomic: boolean;
      readonly entries: readonly Extract<Act, { kind: 'load' | 'debit' }>[];
    }
  | { readonly kind: 'settle' | 'freeze' | 'unfreeze' | 'terminate' };

/**
 * The rule of automatic top-up: from which balance on, by how much, how, and how often in a day.
 */
export interface Rule {
  readonly threshold: bigint;
  readonly amount: bigint;
  readonly invoicing: boolean;
  readonly limit: number;
}

/** The visible part of a wallet, in comparable form. */
export interface Plain {
  readonly status: string;
  readonly balance: string;
  readonly held: string;
  readonly alert: string;
  readonly lots: readonly string[];
  readonly holds: readonly string[];
  /** The credits that have expired so far: of which load, how many, and when. */
  readonly gone: readonly string[];
  /** Top-ups that wait, and those that were given up: why and when. */
  readonly orders: readonly string[];
  readonly lost: readonly string[];
  /** Day of the last automatic top-up, how many on it, when they were stopped, and how often. */
  readonly automatic: string;
  /** The number of times that the alert has changed. */
  readonly alerts: number;
}

interface Pile {
  readonly number: number;
  readonly rank: readonly number[];
  readonly expires: number;
  left: bigint;
}

interface Aside {
  readonly id: string;
  readonly credits: bigint;
  readonly expires: number;
  readonly parts: Pile[];
}

interface Order {
  readonly name: string;
  readonly credits: bigint;
  readonly expires: number;
}

/** The name of the one that the wallet ordered by itself. */
export const byItself = 'by itself';

/** Thrown for what the rules refuse. */
class Refused extends Error {}

const refuseIf = (isRefused: boolean): void => {
  if (isRefused) throw new Refused();
};

const never = Number.POSITIVE_INFINITY;
const total = (piles: readonly Pile[]): bigint => piles.reduce((sum, { left }) => sum + left, 0n);
const byRank = (a: Pile, b: Pile): number => {
  const place = a.rank.findIndex((value, index) => value !== b.rank[index]);
  return (a.rank[place] ?? 0) < (b.rank[place] ?? 0) ? -1 : 1;
};
const byExpiry = (a: { expires: number }, b: { expires: number }): number =>
  a.expires === b.expires ? 0 : a.expires < b.expires ? -1 : 1;

interface Books {
  status: string;
  alert: string;
  alarm: bigint | null;
  debt: bigint;
  entries: number;
  piles: Pile[];
  asides: Aside[];
  gone: string[];
  orders: Order[];
  lost: string[];
  rule: Rule | null;
  day: string | null;
  count: number;
  stopped: string | null;
  stops: number;
  /** True when the last fall has had its top-up. */
  isAnswered: boolean;
  /** True when the act has taken credits out. */
  hasTaken: boolean;
  alerts: number;
  past: Moment[];
  endings: number[];
}

/** The content of the wallet from a second on. */
interface Moment {
  readonly second: number;
  readonly balance: string;
  readonly held: string;
}

/** A wallet kept by hand. */
export class PlainWallet {
  #books: Books = {
    status: 'active',
    alert: 'ok',
    alarm: null,
    debt: 0n,
    entries: 0,
    piles: [],
    asides: [],
    gone: [],
    orders: [],
    lost: [],
    rule: null,
    day: null,
    count: 0,
    stopped: null,
    stops: 0,
    isAnswered: false,
    hasTaken: false,
    alerts: 0,
    past: [],
    endings: [],
  };
  readonly #mayOwe: boolean;
  readonly #shown: (units: bigint) => string;
  readonly #dayOf: (second: number) => string;

  constructor(
    mayOwe: boolean,
    shown: (units: bigint) => string,
    dayOf: (second: number) => string,
  ) {
    this.#mayOwe = mayOwe;
    this.#shown = shown;
    this.#dayOf = dayOf;
  }

  /** Does something. False: it was refused and nothing has changed. */
  act(act: Act, now: number): boolean {
    const before = structuredClone(this.#books);
    try {
      this.#do(act, now);
      this.#remember(now);
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#books = before;
      return false;
    }
  }

  /** Names of the holds that have not ended. */
  openHolds(): string[] {
    return this.#books.asides.map(({ id }) => id);
  }

  /** Names of the top-ups that wait. */
  openOrders(): string[] {
    return this.#books.orders.map(({ name }) => name);
  }

  faces(): Plain {
    const { status, alert, piles, asides, gone, orders, lost, alerts } = this.#books;
    const { day, count, stopped, stops } = this.#books;
    const list = (each: readonly Pile[]) =>
      each.map(({ number, left }) => `${number}: ${this.#shown(left)}`);
    return {
      status,
      balance: this.#shown(this.#balance()),
      held: this.#held(),
      alert,
      lots: list(piles),
      holds: asides.map(({ id, parts }) => `${id}: ${list(parts)}`),
      gone: [...gone],
      orders: orders.map(({ name, credits }) => `${name}: ${this.#shown(credits)}`),
      lost: [...lost],
      automatic: `${day} ${count} ${stopped} ${stops}`,
      alerts,
    };
  }

  /** Returns what was in it at a second, as it is known now. */
  at(second: number): Moment | undefined {
    return this.#books.past.findLast((moment) => moment.second <= second);
  }

  /** The seconds at which something ended by itself, and those before and after. */
  endings(): number[] {
    return this.#books.endings.flatMap((second) => [second - 1, second, second + 1]);
  }

  #remember(second: number): void {
    const balance = this.#shown(this.#balance());
    this.#books.past.push({ second, balance, held: this.#held() });
  }

  #held(): string {
    return this.#shown(this.#books.asides.reduce((sum, { credits }) => sum + credits, 0n));
  }

  #balance(): bigint {
    const { piles, asides, debt } = this.#books;
    return total(piles) + asides.reduce((sum, { parts }) => sum + total(parts), 0n) - debt;
  }

  #do(act: Act, now: number): void {
    const books = this.#books;
    books.hasTaken = false;
    if (act.kind === 'settle' && books.status === 'closed') return;
    if (act.kind === 'complete' || act.kind === 'cancel') {
      const order = books.orders.find(({ name }) => name === act.order);
      if (!order) return;
      refuseIf(act.kind === 'complete' && order.expires <= now);
    }
    refuseIf(books.status === 'closed');
    if (act.kind === 'freeze' || act.kind === 'unfreeze') {
      books.status = act.kind === 'freeze' ? 'frozen' : 'active';
      return;
    }
    if (act.kind === 'alerts') books.alarm = act.alarm;
    else if (act.kind === 'automatic') this.#follow(act.rule);
    else this.#endWhatIsDue(now);
    this.#move(act, now);
    this.#judge();
    this.#topUp(now);
    this.#judge();
  }

  #judge(): void {
    // A bulk may have put the books back, so they are asked for again.
    const books = this.#books;
    const isLow = books.alarm !== null && this.#balance() <= books.alarm;
    const alert = isLow ? 'in_alarm' : 'ok';
    if (alert !== books.alert) books.alerts += 1;
    books.alert = alert;
  }

  #follow(rule: Rule | null): void {
    const books = this.#books;
    const said = (each: Rule | null) => each && Object.values(each).join();
    if (said(rule) !== said(books.rule)) books.isAnswered = false;
    books.rule = rule;
  }

  /** Tops up by itself when credits were taken and little is left, once for each fall. */
  #topUp(now: number): void {
    const books = this.#books;
    const { rule, hasTaken, isAnswered, status } = books;
    if (!rule || !hasTaken || isAnswered || status !== 'active') return;
    if (this.#balance() > rule.threshold || this.openOrders().includes(byItself)) return;
    const day = this.#dayOf(now);
    const number = books.day === day ? books.count + 1 : 1;
    if (number > rule.limit) {
      if (books.stopped !== day) books.stops += 1;
      books.stopped = day;
      return;
    }
    Object.assign(books, { day, count: number, stopped: null });
    const { amount: credits } = rule;
    if (!rule.invoicing) {
      this.#load({ kind: 'load', credits, priority: null, expires: null, purchased: true });
      return;
    }
    books.orders.push({ name: byItself, credits, expires: never });
    books.isAnswered = true;
  }

  #move(act: Act, now: number): void {
    const books = this.#books;
    switch (act.kind) {
      case 'load':
        this.#load(act);
        return;
      case 'debit':
        this.#debit(act.credits);
        return;
      case 'hold': {
        this.#assertSpendable(act.credits);
        const { hold: id, credits, expires } = act;
        books.asides.push({ id, credits, expires: expires ?? never, parts: this.#take(credits) });
        return;
      }
      case 'capture': {
        refuseIf(books.status === 'frozen');
        const aside = this.#openAside(act.hold);
        const credits = act.credits ?? aside.credits;
        refuseIf(credits > aside.credits);
        books.entries += 1;
        books.hasTaken = true;
        const own = total(takeFrom(aside.parts, credits));
        books.debt += credits - own - total(this.#take(credits - own));
        this.#release(aside);
        this.#endWhatIsDue(now, now);
        return;
      }
      case 'void':
        this.#release(this.#openAside(act.hold));
        this.#endWhatIsDue(now, now);
        return;
      case 'terminate':
        refuseIf(this.#balance() < 0n || books.asides.length > 0);
        for (const { name } of books.orders) books.lost.push(`${name}: wallet_closed at ${now}`);
        if (books.piles.length > 0) books.entries += 1;
        Object.assign(books, { orders: [], piles: [], status: 'closed' });
        return;
      case 'order': {
        const { order: name, credits, expires } = act;
        books.orders.push({ name, credits, expires: expires ?? never });
        return;
      }
      case 'complete':
        this.#complete(act.order);
        return;
      case 'cancel':
        this.#lose(({ name }) => name === act.order, `cancelled at ${now}`);
        return;
      case 'bulk':
        for (const entry of act.entries) this.#one(entry, act.atomic, now);
        return;
      default:
        return;
    }
  }

  #one(entry: Extract<Act, { kind: 'load' | 'debit' }>, isAtomic: boolean, now: number): void {
    const before = structuredClone(this.#books);
    try {
      this.#move(entry, now);
    } catch (error) {
      if (isAtomic || !(error instanceof Refused)) throw error;
      this.#books = before;
    }
  }

  #complete(name: string): void {
    const books = this.#books;
    const order = books.orders.find((each) => each.name === name);
    if (!order) return;
    books.orders = books.orders.filter((each) => each !== order);
    const { credits, expires } = order;
    const plain = { kind: 'load', credits, priority: null, purchased: true } as const;
    this.#load({ ...plain, expires: expires === never ? null : expires });
    if (name === byItself) books.isAnswered = false;
  }

  #lose(isLost: (order: Order) => boolean, why: string): void {
    const books = this.#books;
    for (const { name } of books.orders.filter(isLost)) books.lost.push(`${name}: ${why}`);
    books.orders = books.orders.filter((order) => !isLost(order));
  }

  #load({ credits, priority, expires, purchased }: Extract<Act, { kind: 'load' }>): void {
    const books = this.#books;
    books.entries += 1;
    const paid = books.debt < credits ? books.debt : credits;
    books.debt -= paid;
    this.#put({
      number: books.entries,
      rank: [priority ?? never, expires ?? never, purchased ? 1 : 0, books.entries],
      expires: expires ?? never,
      left: credits - paid,
    });
    if (!books.rule || this.#balance() > books.rule.threshold) books.isAnswered = false;
  }

  #debit(credits: bigint): void {
    this.#assertSpendable(credits);
    this.#books.entries += 1;
    this.#books.hasTaken = true;
    this.#books.debt += credits - total(this.#take(credits));
  }

  #assertSpendable(credits: bigint): void {
    refuseIf(this.#books.status === 'frozen');
    refuseIf(!this.#mayOwe && credits > total(this.#books.piles));
  }

  #take(credits: bigint): Pile[] {
    const taken = takeFrom(this.#books.piles, credits);
    this.#books.piles = this.#books.piles.filter(({ left }) => left > 0n);
    return taken;
  }

  #put(pile: Pile): void {
    if (pile.left === 0n) return;
    const { piles } = this.#books;
    const same = piles.find(({ number }) => number === pile.number);
    if (same) same.left += pile.left;
    else piles.push({ ...pile });
    piles.sort(byRank);
  }

  #openAside(id: string): Aside {
    const aside = this.#books.asides.find((each) => each.id === id);
    if (!aside) throw new Refused();
    return aside;
  }

  /** Lets what is left of a hold pay debts, and gives the rest of it back. */
  #release(aside: Aside): void {
    const books = this.#books;
    books.asides = books.asides.filter(({ id }) => id !== aside.id);
    books.debt -= total(takeFrom(aside.parts, books.debt));
    for (const part of aside.parts) this.#put(part);
  }

  /** Ends what has reached its second, second by second; nothing ends before `since`. */
  #endWhatIsDue(now: number, since = 0): void {
    const books = this.#books;
    for (;;) {
      const { piles, asides, orders } = books;
      const next = [...piles, ...asides, ...orders].sort(byExpiry)[0]?.expires ?? never;
      if (next > now) return;
      const second = Math.max(next, since);
      const isOver = ({ expires }: { expires: number }) => expires <= second;
      this.#lose(isOver, `expired at ${second}`);
      for (const aside of books.asides.filter(isOver).sort(byExpiry)) this.#release(aside);
      for (const { number, left } of books.piles.filter(isOver).sort(byExpiry)) {
        books.entries += 1;
        books.hasTaken = true;
        books.gone.push(`${number}: ${this.#shown(left)} at ${second}`);
      }
      books.piles = books.piles.filter((pile) => !isOver(pile));
      this.#remember(second);
      books.endings.push(second);
    }
  }
}

/** Takes credits from piles in their order, as far as they go. */
function takeFrom(piles: readonly Pile[], credits: bigint): Pile[] {
  let missing = credits;
  return piles.flatMap((pile) => {
    const left = pile.left < missing ? pile.left : missing;
    missing -= left;
    pile.left -= left;
    return left > 0n ? [{ ...pile, left }] : [];
  });
}

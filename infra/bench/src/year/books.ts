/** A year of a wallet in whole credits, worked out here a second time. */

export const hour = 3_600_000;
export const day = 24 * hour;
export const monthsOfYear = 12;
export const weeksOfYear = 52;
export const billingDays = 28;

const firstYear = 2027;
const loadedCredits = 100;
const refundedCredits = 5;

/** The start of a month of the year in milliseconds, counted from 0; 12 is the end of the year. */
export const monthStart = (month: number): number => Date.UTC(firstYear, month, 1);

/** An occasion on which every wallet gets one request. */
export interface Occasion {
  readonly at: number;
  readonly kind: 'load' | 'debit' | 'refund';
  /** Counted from 0 within the kind. */
  readonly number: number;
}

const weekly = (week: number): number => monthStart(0) + week * 7 * day + 12 * hour;
const quarterly = (quarter: number): number => monthStart(3 * quarter + 2) + 19 * day;

const many = (
  count: number,
  kind: Occasion['kind'],
  at: (number: number) => number,
): readonly Occasion[] =>
  Array.from({ length: count }, (_, number) => ({ kind, number, at: at(number) }));

/** The occasions of the year, in order: 12 loads, 52 debits and 4 refunds. */
export const occasions: readonly Occasion[] = [
  ...many(monthsOfYear, 'load', monthStart),
  ...many(weeksOfYear, 'debit', weekly),
  ...many(4, 'refund', quarterly),
].toSorted((left, right) => left.at - right.at);

/** The credits that an occasion moves in a wallet, by its number; every wallet has its own rhythm. */
export function creditsOf({ kind, number }: Occasion, wallet: number): number {
  if (kind === 'load') return loadedCredits;
  return kind === 'refund' ? refundedCredits : 1 + ((wallet + number) % 12);
}

/** The billing day of a wallet, counted from 0: wallets are spread over the first 28 days of a month. */
const billingDay = (wallet: number): number => wallet % billingDays;

/** The expiry of a load: on the billing day of the next month; null for a refund. */
export const expiryOf = ({ kind, number }: Occasion, wallet: number): number | null =>
  kind === 'load' ? monthStart(number + 1) + billingDay(wallet) * day : null;

/** The credits of one wallet, lot by lot. */
export class WalletBook {
  readonly #wallet: number;
  #lots: { readonly expiry: number; credits: number }[] = [];
  /** Lots that have expired with something left. */
  expiries = 0;

  constructor(wallet: number) {
    this.#wallet = wallet;
  }

  /** The credits that are left, without those that have expired by an instant. */
  balance(at: number): number {
    this.#expire(at);
    return this.#lots.reduce((sum, { credits }) => sum + credits, 0);
  }

  /** Books an occasion. Loads are drawn in the order of their expiry, refunds last. */
  take(occasion: Occasion): void {
    this.#expire(occasion.at);
    let credits = creditsOf(occasion, this.#wallet);
    if (occasion.kind !== 'debit') {
      const expiry = expiryOf(occasion, this.#wallet) ?? Number.POSITIVE_INFINITY;
      this.#lots = [...this.#lots, { expiry, credits }].toSorted((a, b) => a.expiry - b.expiry);
      return;
    }
    for (const lot of this.#lots) {
      const drawn = Math.min(lot.credits, credits);
      lot.credits -= drawn;
      credits -= drawn;
    }
  }

  #expire(at: number): void {
    const expired = this.#lots.filter(({ expiry }) => expiry <= at);
    this.expiries += expired.filter(({ credits }) => credits > 0).length;
    this.#lots = this.#lots.filter(({ expiry }) => expiry > at);
  }
}

import type { ModelLife, Moment, Stretch } from './life.ts';

/** The terms that periods follow from. */
type Terms = Pick<ModelLife, 'start' | 'trialDays' | 'ahead' | 'unit' | 'count' | 'anchor'>;

const day = 86_400_000;

/** A day of the calendar as the number of days since 1970, with the milliseconds since its midnight. */
interface Local {
  readonly day: number;
  readonly clock: number;
}

const local = (moment: Moment, ahead: number): Local => {
  const shifted = moment + ahead * 60_000;
  const number = Math.floor(shifted / day);
  return { day: number, clock: shifted - number * day };
};

const moment = ({ day: number, clock }: Local, ahead: number): Moment =>
  number * day + clock - ahead * 60_000;

/** The day so many months after another; where the month is too short, its last. */
function monthsAfter(from: number, months: number): number {
  const date = new Date(from * day);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + months];
  const last = Date.UTC(year, month + 1, 0) / day;
  return Math.min(Date.UTC(year, month, 1) / day + date.getUTCDate() - 1, last);
}

/**
 * The periods of a subscription, found by walking day by day along its calendar (D63): a period ends on the days on which the
 * anchor comes back, the first on the first of them after the day of the start.
 */
export class Calendar {
  readonly #life: Terms;
  readonly #start: Moment;
  readonly #anchor: Local;

  constructor(life: Terms) {
    this.#life = life;
    this.#start = life.start + life.trialDays * day;
    this.#anchor = this.#anchorOf();
  }

  /** The instant at which the first period begins that is paid for. */
  get start(): Moment {
    return this.#start;
  }

  /** The instant from which all returns are counted. */
  get anchor(): Moment {
    return moment(this.#anchor, this.#life.ahead);
  }

  /** The period with a number, from 0 on, and the time that its price is for: as if the subscription had no end. */
  period(number: number): { readonly span: Stretch; readonly whole: Stretch } {
    const { count } = this.#life;
    const startDay = local(this.#start, this.#life.ahead).day;
    // Returns are numbered from the anchor; the one that counts is the last that is not after the day of the start.
    let last = 0;
    while (this.#return(last) > startDay) last -= 1;
    while (this.#return(last + 1) <= startDay) last += 1;
    const isOwn = this.#return(last) === startDay;
    const first = isOwn ? last + count : last + 1;
    const boundary = (nth: number) =>
      nth === 0 ? this.#start : this.#at(first + (nth - 1) * count);
    const span = { from: boundary(number), to: boundary(number + 1) };
    const isShort = number === 0 && this.#return(first - count) !== startDay;
    return { span, whole: isShort ? { from: this.#at(first - count), to: span.to } : span };
  }

  #return(number: number): number {
    const { unit } = this.#life;
    if (unit === 'MONTHLY') return monthsAfter(this.#anchor.day, number);
    return this.#anchor.day + number * (unit === 'WEEKLY' ? 7 : 1);
  }

  #at(number: number): Moment {
    return moment({ day: this.#return(number), clock: this.#anchor.clock }, this.#life.ahead);
  }

  #anchorOf(): Local {
    const { anchor, ahead, unit } = this.#life;
    if (anchor === 'start') return local(this.#start, ahead);
    if (anchor !== 'calendar') return local(anchor, ahead);
    let found = local(this.#start, ahead).day + 1;
    const begins = (number: number) => {
      const date = new Date(number * day);
      if (unit === 'MONTHLY') return date.getUTCDate() === 1;
      return unit === 'DAILY' || date.getUTCDay() === 1;
    };
    while (!begins(found)) found += 1;
    return { day: found, clock: 0 };
  }
}

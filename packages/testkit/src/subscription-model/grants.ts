import { Calendar } from './calendar.ts';
import {
  grantedText,
  type ModelGrant,
  type ModelLife,
  type ModelOwnGrant,
  type Moment,
  type Stretch,
  ungrantedText,
} from './life.ts';

/** One time at which credits are given; without an end they are given once. */
interface Time {
  readonly from: Moment;
  readonly to: Moment | null;
}

/** A grant that a subscription has, with the number of the time at which it gives next. */
interface Given extends ModelGrant {
  readonly origin: 'plan' | 'own' | 'addon';
  readonly addon: string | null;
  readonly from: Moment;
  /** Its periods are counted from here. */
  readonly anchor: Moment;
  /** The credits of the first time, in hundred-millionths, where that gives a part. */
  readonly first: bigint | null;
  readonly until: Moment | null;
  /** Null: it gives nothing any more. */
  readonly number: number | null;
}

/** The circumstances that decide what becomes of credits at their time. */
interface Circumstances {
  readonly isPaused: boolean;
  /** The billing period that runs; between two of them the instant between. */
  readonly period: Stretch;
}

const parts = 100_000_000n;

const creditsText = (amount: bigint): string => {
  const fraction = String(amount % parts).padStart(8, '0');
  return `${amount / parts}.${fraction}`.replace(/\.?0+$/, '');
};

/** The grants of credits of a subscription (E 19). */
export class Grants {
  readonly #ahead: ModelLife['ahead'];
  readonly #told: string[];
  #grants: Given[] = [];

  /** @param told everything that is said of credits, also by subscriptions before */
  constructor(ahead: ModelLife['ahead'], told: string[]) {
    this.#ahead = ahead;
    this.#told = told;
  }

  #calendar(start: Moment, anchor: Moment, { unit, count }: Pick<ModelLife, 'unit' | 'count'>) {
    return new Calendar({ start, anchor, unit, count, trialDays: 0, ahead: this.#ahead });
  }

  #timeOf({ from, anchor, unit, count }: Given, number: number): Time {
    if (unit === null) return { from, to: null };
    return this.#calendar(from, anchor, { unit, count }).period(number).span;
  }

  /** The instants at which something is given next. */
  steps(): { readonly at: Moment; readonly take: (now: Circumstances) => void }[] {
    return this.#grants.flatMap((grant) => {
      if (grant.number === null) return [];
      const time = this.#timeOf(grant, grant.number);
      return { at: time.from, take: (now) => this.#give(grant, time, now) };
    });
  }

  #give(grant: Given, time: Time, { isPaused, period }: Circumstances): void {
    const number = grant.number ?? 0;
    const numbered = { name: grant.name, number };
    const isFirst = number === 0 && grant.first !== null;
    const credits = isFirst ? (grant.first ?? 0n) : BigInt(grant.credits) * parts;
    this.#told.push(
      isPaused
        ? ungrantedText('skipped', numbered)
        : grantedText(numbered, time, creditsText(credits), this.#expiry(grant, time, period)),
    );
    const next = grant.unit === null ? null : this.#timeOf(grant, number + 1);
    const isOver = next === null || (next.to ?? next.from) > (grant.until ?? Infinity);
    this.#replace(grant, { ...grant, number: isOver ? null : number + 1 });
  }

  #expiry({ expires }: Given, { from }: Time, period: Stretch): Moment | null {
    if (expires === 'never') return null;
    // What is given afterwards, for a period that is over, has ended with that at the latest.
    if (expires === 'with the period') return from < period.from ? period.from : period.to;
    return this.#calendar(from, from, expires).period(0).span.to;
  }

  #replace(before: Given, after: Given): void {
    this.#grants = this.#grants.map((each) => (each === before ? after : each));
  }

  /** Grants of a plan, from an instant on. */
  addOfPlan(grants: readonly ModelGrant[], from: Moment): void {
    for (const grant of grants) this.#add(grant, { origin: 'plan', from });
  }

  #add(
    grant: ModelGrant,
    more: Pick<Given, 'origin' | 'from'> &
      Partial<Pick<Given, 'addon' | 'until' | 'anchor' | 'first'>>,
  ): void {
    const { name, credits, unit, count, expires } = grant;
    const none = { addon: null, until: null, anchor: more.from, first: null, number: 0 };
    this.#grants.push({ name, credits, unit, count, expires, ...none, ...more });
  }

  /** A grant of the subscription itself; false where it would begin too early, or give nothing. */
  addOwn(grant: ModelOwnGrant, now: Moment, start: Moment, since: Moment): boolean {
    const asked = grant.from ?? now;
    if (asked < start) return false;
    const from = Math.max(asked, since);
    const given = { ...grant, origin: 'own' as const, addon: null, from, anchor: from };
    const { to } = this.#timeOf({ ...given, first: null, number: 0 }, 0);
    const { until } = grant;
    if (until !== null && (until <= from || (to ?? from) > until)) return false;
    this.#add(grant, { origin: 'own', from, until });
    return true;
  }

  /**
   * A grant of an add-on that is attached. One in the rhythm of the subscription gives the share of the period that is left, and
   * the whole with those to come (E 11.5).
   *
   * @param rest the part of the running period that is left; null: none runs that is charged, or nothing is prorated
   */
  addOfAddon(
    grant: ModelGrant,
    addon: string,
    from: Moment,
    rest: { readonly end: Moment; readonly share: (amount: bigint) => bigint } | null,
  ): void {
    const first = rest?.share(BigInt(grant.credits) * parts) ?? null;
    const whole = {
      origin: 'addon' as const,
      addon,
      from: first === 0n ? (rest?.end ?? from) : from,
    };
    const isPart = rest !== null && first !== null && first > 0n && grant.unit !== null;
    // Where more than a whole turn is left, by a pause, it is given whole.
    const isOneTurn =
      isPart &&
      this.#calendar(from, rest.end, { unit: grant.unit, count: 1 }).period(0).span.to === rest.end;
    this.#add(grant, isOneTurn ? { ...whole, anchor: rest.end, first } : whole);
  }

  /** Ends a grant; false where there is none of that name. */
  end(name: string, at: Moment): boolean {
    const grant = this.#grants.findLast((each) => each.name === name);
    if (grant === undefined) return false;
    if (this.isEnded(name, at)) return true;
    const next = grant.number === null ? null : this.#timeOf(grant, grant.number);
    const isOver = next !== null && (next.to ?? next.from) > at;
    if (isOver) this.#lose(grant);
    this.#replace(grant, { ...grant, until: at, number: isOver ? null : grant.number });
    return true;
  }

  /** Tells whether a grant has an end that is not later. */
  isEnded(name: string, at: Moment): boolean {
    const grant = this.#grants.findLast((each) => each.name === name);
    return grant !== undefined && grant.until !== null && grant.until <= at;
  }

  #lose({ name, number }: Given): void {
    if (number !== null) this.#told.push(ungrantedText('lost', { name, number }));
  }

  /** Everything that was still to be given, of an add-on or of all, is lost. */
  lose(addon?: string): void {
    for (const grant of this.#grants) {
      if (addon === undefined || grant.addon === addon) this.#lose(grant);
    }
    if (addon === undefined) return;
    this.#grants = this.#grants.filter((each) => each.addon !== addon);
  }

  /** Another end of the trial, in which nothing was given; false where a grant would end before it gives anything. */
  moveTrial(before: Moment, to: Moment, startOf: (addon: string) => Moment): boolean {
    const moved = this.#grants.map((grant): Given => {
      const own = grant.from === before ? to : grant.from;
      const from = Math.max(grant.addon === null ? own : startOf(grant.addon), to);
      return { ...grant, from, anchor: from };
    });
    const isLate = moved.some((grant) => {
      const first = this.#timeOf(grant, 0);
      return (first.to ?? first.from) > (grant.until ?? Infinity);
    });
    if (!isLate) this.#grants = moved;
    return !isLate;
  }

  /** The grants that go on in the subscription that follows: its own, and those of add-ons that are kept. */
  follow(kept: (addon: string) => boolean, at: Moment, isTrial: boolean): Grants {
    const following = new Grants(this.#ahead, this.#told);
    for (const grant of this.#grants) {
      const { number, addon, origin } = grant;
      const isKept = addon === null ? origin === 'own' : kept(addon);
      if (number === null || !isKept) continue;
      if (isTrial) {
        following.#grants.push({ ...grant, from: at, anchor: at });
        continue;
      }
      const { from } = this.#timeOf(grant, number);
      const first = number === 0 ? grant.first : null;
      following.#grants.push({ ...grant, from, first, number: 0 });
    }
    return following;
  }
}

import type { Pieces } from './pieces.ts';

/** A piece of work that runs without a pause, such as the parsing of a small body. */
type Work = () => void;

/** Work of a tenant that pauses between its pieces. */
interface LongWork<Result> {
  readonly tenant: string;
  readonly pieces: Pieces<Result>;
  /** Tells between two pieces whether somebody still waits for the outcome. */
  readonly isWanted?: () => boolean;
  /** Takes the outcome, in the same turn as the last piece. */
  readonly done: (result: Result) => void;
  readonly failed: (error: unknown) => void;
}

/** Lets tenants take turns at the one thread of the process (D45). */
export interface Turns {
  /**
   * Runs work of a tenant: at once, or when the share of the tenant allows it.
   *
   * @param spentMs the milliseconds that the thread has already spent on this work, which count first
   */
  take(tenant: string, work: Work, spentMs?: number): void;
  /** Does long work in the turn that the tenant has now, and what is left of it piece by piece in further ones. */
  goOn<Result>(work: LongWork<Result>): void;
}

interface TurnsOptions {
  /** Milliseconds in which a tenant may start work without a break. */
  readonly sliceMs: number;
  /** The part of the time that a tenant gets while others are there. */
  readonly share: number;
  /** Milliseconds without a request after which a tenant is no longer there. */
  readonly presenceMs: number;
  readonly clock?: Clock;
}

/** Time as the turns see it. */
interface Clock {
  /** Milliseconds in which the thread has worked or could have. */
  now(): number;
  /** Runs work after what has arrived by then, and after about so many milliseconds. */
  later(work: Work, milliseconds: number): void;
}

/** Milliseconds within which time that passes counts as time of the thread: to ask for that costs as much as some work. */
const exactEveryMs = 1;

/**
 * A clock that rises as another one does, but asks it only when so much time of day has passed. It is never further
 * ahead of it than that.
 */
export function rarelyAsked(exact: () => number, timeOfDay: () => number): () => number {
  let asked = { at: Number.NEGATIVE_INFINITY, time: 0 };
  let latest = Number.NEGATIVE_INFINITY;
  return () => {
    const at = timeOfDay();
    if (at - asked.at >= exactEveryMs) asked = { at, time: exact() };
    latest = Math.max(latest, asked.time + at - asked.at);
    return latest;
  };
}

const systemClock: Clock = {
  // Not the time of day: where other processes take the processor away, no tenant has spent that, or earned it.
  now: rarelyAsked(
    () => {
      const { user, system } = process.threadCpuUsage();
      return (user + system) / 1_000 + performance.eventLoopUtilization().idle;
    },
    () => performance.now(),
  ),
  later: (work, milliseconds) => {
    if (milliseconds <= 0) setImmediate(work);
    else setTimeout(work, milliseconds);
  },
};

/** The time of a tenant. */
interface Account {
  readonly tenant: string;
  /** Milliseconds that it may still spend; below zero after work that took longer. */
  credit: number;
  /** The instant of this credit. */
  at: number;
  readonly waiting: Work[];
  isWorking: boolean;
}

/**
 * Makes the turns of a process. A tenant may start work until its slice is spent. What waits then goes on after
 * what has meanwhile arrived for others: at once where the tenant is alone, and where others are there
 * when its share of the time has paid for what it has spent. So others wait for one piece of work of each
 * tenant, however many it has sent, and find the thread free after it. Nothing is refused here.
 *
 * It keeps an account for each tenant that has called, as the directory of keys does.
 */
export function createTurns(options: TurnsOptions): Turns {
  const { sliceMs, share, clock = systemClock } = options;
  const accounts = new Map<string, Account>();
  const presence = createPresence(options.presenceMs);
  let dueAt = Number.POSITIVE_INFINITY;

  /** `startedAt`: now. Asking the clock costs as much as some of the work, so it is asked once in between. */
  function run(account: Account, work: Work, startedAt: number): number {
    account.isWorking = true;
    try {
      work();
    } finally {
      account.isWorking = false;
    }
    const endedAt = clock.now();
    const spent = endedAt - startedAt;
    // Nobody could go in between, so what is longer than a slice counts double.
    account.credit -= spent > sliceMs ? 2 * spent : spent;
    return endedAt;
  }

  function earn(account: Account, now: number): void {
    const earned = account.credit + (now - account.at) * share;
    account.credit = Math.min(sliceMs, earned);
    account.at = now;
  }

  /** Gives all tenants their turn, and books the next one for those that still wait. */
  function turn(): void {
    dueAt = Number.POSITIVE_INFINITY;
    let soonest = Number.POSITIVE_INFINITY;
    let now = clock.now();
    for (const account of accounts.values()) {
      const { waiting, tenant } = account;
      if (waiting.length === 0) continue;
      const isAlone = presence.isAlone(tenant, now);
      earn(account, now);
      if (isAlone) account.credit = sliceMs;
      let served = 0;
      for (; served < waiting.length && account.credit > 0; served += 1) {
        now = run(account, waiting[served] as Work, now);
      }
      waiting.splice(0, served);
      if (waiting.length > 0) soonest = Math.min(soonest, isAlone ? 0 : -account.credit / share);
    }
    if (soonest < Number.POSITIVE_INFINITY) book(soonest);
  }

  function book(milliseconds: number): void {
    const at = clock.now() + milliseconds;
    if (at >= dueAt) return;
    dueAt = at;
    clock.later(turn, milliseconds);
  }

  function accountOf(tenant: string, now: number): Account {
    const known = accounts.get(tenant);
    if (known) return known;
    const made = { tenant, credit: sliceMs, at: now, waiting: [], isWorking: false };
    accounts.set(tenant, made);
    return made;
  }

  function take(tenant: string, work: Work, spentMs = 0): void {
    const now = clock.now();
    presence.note(tenant, now);
    const account = accountOf(tenant, now);
    account.credit -= spentMs;
    if (account.waiting.length === 0 && !account.isWorking) {
      earn(account, now);
      if (account.credit > 0) {
        run(account, work, now);
        return;
      }
    }
    account.waiting.push(work);
    book(0);
  }

  function goOn<Result>(work: LongWork<Result>): void {
    const { tenant, pieces, isWanted, done, failed } = work;
    try {
      const step = pieces.next();
      if (step.done) {
        done(step.value);
        return;
      }
    } catch (error) {
      failed(error);
      return;
    }
    take(tenant, () => {
      if (isWanted?.() ?? true) goOn(work);
    });
  }

  return { take, goOn };
}

/** Knows whether a tenant is the only one there. */
function createPresence(presenceMs: number) {
  // The two that came last are enough: one of them is somebody else.
  let last = { tenant: '', at: Number.NEGATIVE_INFINITY };
  let other = last;
  return {
    note: (tenant: string, now: number): void => {
      if (tenant !== last.tenant) other = last;
      last = { tenant, at: now };
    },
    isAlone: (tenant: string, now: number): boolean => {
      const { at } = tenant === last.tenant ? other : last;
      return now - at > presenceMs;
    },
  };
}

import type { Moment, Stretch } from './life.ts';

/** The instant that never comes. */
export const never = Number.MAX_SAFE_INTEGER;

/** A pause that is over. */
export interface Pause extends Stretch {
  readonly bills: boolean;
}

/** The part that two stretches have in common. */
export const common = (one: Stretch, other: Stretch): Stretch | null => {
  const both = { from: Math.max(one.from, other.from), to: Math.min(one.to, other.to) };
  return both.from < both.to ? both : null;
};

/** An instant after a pause: what lay ahead when it began comes later by its length. */
export const moved = (moment: Moment, { from, to }: Stretch): Moment =>
  moment > from && moment !== never ? moment + to - from : moment;

/** A stretch after a pause. */
export const movedStretch = (stretch: Stretch, pause: Stretch): Stretch => ({
  from: moved(stretch.from, pause),
  to: moved(stretch.to, pause),
});

/** The time of a subscription, a clock that stands still in its pauses (D67). */
export class OwnTime {
  readonly #pauses: Pause[] = [];

  add(pause: Pause): void {
    this.#pauses.push(pause);
  }

  /** The pauses in a stretch whose usage is not billed. */
  unbilled(stretch: Stretch): readonly Stretch[] {
    return this.#pauses.flatMap((pause) => (pause.bills ? [] : (common(pause, stretch) ?? [])));
  }

  isPaused(moment: Moment): boolean {
    return this.#pauses.some(({ from, to }) => from <= moment && moment < to);
  }

  /** The reading of the clock: by so much less as the pauses have taken by then. */
  #at(moment: Moment): number {
    return this.#pauses.reduce(
      (shown, { from, to }) => shown - Math.max(0, Math.min(moment, to) - from),
      moment,
    );
  }

  length({ from, to }: Stretch): number {
    return this.#at(to) - this.#at(from);
  }

  /** The share of an amount, half a cent away from zero. */
  share(cents: number | bigint, part: Stretch, whole: Stretch): bigint {
    const [used, all] = [BigInt(this.length(part)), BigInt(this.length(whole))];
    return used === 0n ? 0n : (BigInt(cents) * used * 2n + all) / (2n * all);
  }
}

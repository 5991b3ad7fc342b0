/** A process that comes to a timer so much later has stood still. */
export const standstillMilliseconds = 250;

/** Tells by the turns of a timer whether its process has stood still between two of them. */
export class Standstill {
  readonly #every: number;
  readonly #clock: () => number;
  #last: number;
  #wasLate = false;

  /** `every`: milliseconds from one turn to the next. `clock` gives milliseconds that only ever rise. */
  constructor(every: number, clock: () => number = () => performance.now()) {
    this.#every = every;
    this.#clock = clock;
    this.#last = clock();
  }

  /** True from the turn after a standstill to the next one. */
  get isRecent(): boolean {
    return this.#wasLate;
  }

  /**
   * Notes a turn. True when it comes so late that the process has stood still since the last one, and not after another such
   * turn: a process that comes late to all of them is slow.
   */
  noteTurn(): boolean {
    const [last, wasLate] = [this.#last, this.#wasLate];
    this.#last = this.#clock();
    this.#wasLate = !wasLate && this.#last - last > this.#every + standstillMilliseconds;
    return this.#wasLate;
  }
}

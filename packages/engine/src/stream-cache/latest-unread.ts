/** The most that waits unread in all streams of a process together, in characters of JSON: some seconds at full load. */
const charactersMaximum = 16 * 1024 ** 2;

/** A stream in which events wait unread. */
interface Waiting {
  /** Reads what waits, folds it, and says so by `done`. */
  fold(): void;
}

/**
 * The streams of a process in which events of others wait until somebody needs the state. When they hold too much together, the
 * one in which events have waited for longest is folded.
 */
export class LatestUnread {
  /** The characters that wait in each, in the order in which the first event came. */
  readonly #streams = new Map<Waiting, number>();
  readonly #maximum: number;
  #characters = 0;

  constructor(maximum = charactersMaximum) {
    this.#maximum = maximum;
  }

  /** Notes that one more event waits in a stream. */
  add(stream: Waiting, characters: number): void {
    this.#streams.set(stream, (this.#streams.get(stream) ?? 0) + characters);
    this.#characters += characters;
    while (this.#characters > this.#maximum) {
      const [first] = this.#streams.keys();
      if (first === undefined) return;
      first.fold();
    }
  }

  /** Notes that no event waits in a stream any more. */
  done(stream: Waiting): void {
    this.#characters -= this.#streams.get(stream) ?? 0;
    this.#streams.delete(stream);
  }
}

import type { UnreadEvent } from '../log/types.ts';
import type { HeardLog } from './heard-log.ts';

/** The most that is kept, in characters of JSON: some 20,000 events. */
const charactersMaximum = 32 * 1024 ** 2;
/** A stream that gets longer before anybody asks for it is better read, from its snapshot. */
const eventsMaximum = 64;

/** The whole of a stream, as the log has told it. */
export interface UnreadStream {
  /** From the first event on, without a gap. */
  readonly events: readonly UnreadEvent[];
  /** The telling of the log in which all of them came; see heard-log.ts. */
  readonly stretch: number;
}

interface Kept {
  readonly events: UnreadEvent[];
  readonly stretch: number;
  characters: number;
}

/**
 * The beginnings of streams that other processes have begun a moment ago, as they came from the log: none is
 * parsed, and most are never asked for. What one process has created is as a rule written to or read at
 * another one next, and would have to be read there, in a call of its own that costs more than all the rest
 * of a request.
 */
export class UnreadStreams {
  readonly #log: Pick<HeardLog, 'stretch'>;
  readonly #maximum: number;
  /** By name; those that were begun first are the first, and go first. */
  readonly #streams = new Map<string, Kept>();
  #characters = 0;

  constructor(log: Pick<HeardLog, 'stretch'>, maximum = charactersMaximum) {
    this.#log = log;
    this.#maximum = maximum;
  }

  /** Keeps an event of a stream that is known from its first event on, and lets all others go by. */
  note(event: UnreadEvent): void {
    const { stream: name, revision } = event;
    const { stretch } = this.#log;
    if (revision === 0) this.#drop(name);
    const known = revision === 0 ? { events: [], stretch, characters: 0 } : this.#streams.get(name);
    if (!known) return;
    const isNext = known.events.length === revision && known.stretch === stretch;
    if (!isNext || revision >= eventsMaximum) {
      this.#drop(name);
      return;
    }
    known.events.push(event);
    known.characters += event.characters;
    this.#characters += event.characters;
    if (revision === 0) this.#streams.set(name, known);
    while (this.#characters > this.#maximum) {
      const [oldest] = this.#streams.keys();
      if (oldest === undefined) return;
      this.#drop(oldest);
    }
  }

  /** Hands a stream out, which is kept here no longer; null when something of it may have been missed. */
  take(name: string): UnreadStream | null {
    const known = this.#streams.get(name) ?? null;
    this.#drop(name);
    return known?.stretch === this.#log.stretch ? known : null;
  }

  #drop(name: string): void {
    const known = this.#streams.get(name);
    if (!known) return;
    this.#streams.delete(name);
    this.#characters -= known.characters;
  }
}

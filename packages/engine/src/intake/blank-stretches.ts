import type { AnyFactTables } from '../define/intake.ts';
import type { EventStore, Position } from '../log/types.ts';
import { fillPrefixes } from './fill-batch.ts';

/** The log behind a place that some tables had come to, as far as it was read for them. */
interface Known {
  readonly after: Position;
  /** Nothing is there for the tables after the one position and up to this one. */
  readonly upTo: Position;
  /** The first event behind that which is for them; null where none has been found. */
  readonly next: Position | null;
}

/** A question about the log, which has come to `upTo`: is there anything for some tables after a position and up to that one? */
interface Asked {
  readonly after: Position;
  readonly upTo: Position;
}

/**
 * Tells whether the log has nothing for some tables in a stretch. They are told seldom how far it goes with events of others, and
 * while it is quiet not at all. What was found is remembered, and one question at a time goes to the log: callers who have written
 * something ask with every read that they make of facts.
 */
export class BlankStretches {
  readonly #store: Pick<EventStore, 'readLog'>;
  readonly #known = new Map<string, Known>();
  readonly #reading = new Map<string, Promise<void>>();

  constructor(store: Pick<EventStore, 'readLog'>) {
    this.#store = store;
  }

  /** False, too, where the log cannot be read: that leaves the question to those who fill. */
  async isBlank(tables: AnyFactTables, asked: Asked): Promise<boolean> {
    for (;;) {
      const answer = answerOf(this.#known.get(tables.name), asked);
      if (answer !== null) return answer;
      const reading = this.#reading.get(tables.name);
      if (reading) {
        await reading;
        continue;
      }
      const own = this.#read(tables, asked).finally(() => this.#reading.delete(tables.name));
      // Those who wait for it look at what is known then, and read for themselves.
      this.#reading.set(
        tables.name,
        own.catch(() => undefined).then(() => undefined),
      );
      try {
        await own;
      } catch {
        return false;
      }
    }
  }

  async #read(tables: AnyFactTables, { after, upTo }: Asked): Promise<void> {
    const known = this.#known.get(tables.name);
    const goesOn = known !== undefined && known.next === null && isFrom(known, after);
    const from = goesOn && known.upTo > after ? known.upTo : after;
    let next: Position | null = null;
    const prefixes = fillPrefixes(tables);
    for await (const { position } of this.#store.readLog({ prefixes, after: from, upTo })) {
      next = position;
      break;
    }
    const blank = next === null ? upTo : from;
    this.#known.set(tables.name, { after: goesOn ? known.after : after, upTo: blank, next });
  }
}

/** Tells whether a place lies in what is known, or at its end. */
const isFrom = (known: Known, after: Position): boolean =>
  after >= known.after && after <= known.upTo;

/** The answer that follows from what is known; null where the log must be asked. */
function answerOf(known: Known | undefined, { after, upTo }: Asked): boolean | null {
  if (after >= upTo) return true;
  if (known === undefined || after < known.after) return null;
  if (known.next !== null && after < known.next) return upTo < known.next;
  return after <= known.upTo && upTo <= known.upTo ? true : null;
}

/**
 * A part that a process may be given from outside, such as somebody else who works something out. Slices ask their context for
 * it; a process that was given none has the standard one.
 */
export interface Part<Thing> {
  readonly name: string;
  readonly standard: Thing;
}

/** Declares a part, with what stands in for it where a process is given none. */
export const part = <Thing>(name: string, standard: Thing): Part<Thing> => ({ name, standard });

/** The parts that a process was given. */
export class Parts {
  readonly #things = new Map<string, unknown>();

  /** Gives the process a part of its own in place of the standard one. */
  with<Thing>(given: Part<Thing>, thing: Thing): this {
    this.#things.set(given.name, thing);
    return this;
  }

  /** A part: the one that was given, else the standard one. */
  get<Thing>(wanted: Part<Thing>): Thing {
    return this.#things.has(wanted.name)
      ? (this.#things.get(wanted.name) as Thing)
      : wanted.standard;
  }
}

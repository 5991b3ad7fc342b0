/** The resources that a test file has opened. */
export interface Openings {
  /** Remembers how to close something, and gives it back. */
  add<Thing>(thing: Thing, close: (thing: Thing) => Promise<unknown>): Thing;
  /**
   * Closes everything, the last one first. A failure to close one does not keep the others open;
   * the first failure is thrown at the end.
   */
  closeAll(): Promise<void>;
}

/** Keeps what is opened, so that it is closed also when a test fails half-way. */
export function openings(): Openings {
  const closers: (() => Promise<unknown>)[] = [];
  return {
    add(thing, close) {
      closers.push(() => close(thing));
      return thing;
    },
    async closeAll() {
      const failures: unknown[] = [];
      for (const close of closers.splice(0).reverse()) {
        await close().catch((error: unknown) => failures.push(error));
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

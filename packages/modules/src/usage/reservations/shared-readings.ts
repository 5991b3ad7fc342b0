interface Lane<Value> {
  /** Settles, and never rejects, when the reading is done. */
  readonly underWay: Promise<unknown>;
  /** The one after it, for all who have come meanwhile. */
  next: Promise<Value> | null;
}

/**
 * Readings that requests share: who comes while one is under way gets the next, which has not begun before. So a hundred
 * requests for one figure read it twice.
 */
export class SharedReadings<Value> {
  readonly #lanes = new Map<string, Lane<Value>>();

  /** The value of a reading that begins now or later. Rejects as `begin` does. */
  read(key: string, begin: () => Promise<Value>): Promise<Value> {
    const lane = this.#lanes.get(key);
    if (!lane) return this.#begin(key, begin);
    lane.next ??= lane.underWay.then(() => this.#begin(key, begin));
    return lane.next;
  }

  #begin(key: string, begin: () => Promise<Value>): Promise<Value> {
    const reading = begin();
    const end = (): void => {
      if (lane.next === null) this.#lanes.delete(key);
    };
    const lane: Lane<Value> = { underWay: reading.then(end, end), next: null };
    this.#lanes.set(key, lane);
    return reading;
  }
}

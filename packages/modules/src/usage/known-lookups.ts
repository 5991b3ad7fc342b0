import type { KnownUsage } from './usage-event.ts';

/** The events with some ids, by the hash of the id. */
export type KnownEvents = ReadonlyMap<string, KnownUsage>;

/** Ids of a request that is looked up by itself: it has enough to pay for a statement. */
const manyIds = 100;

interface Lane {
  /** Settles, and never rejects, when the look-up is done. */
  readonly underWay: Promise<unknown>;
  /** The ids of those that wait for it, which are looked up together, and what they will be told. */
  next: { readonly ids: string[]; readonly found: Promise<KnownEvents> } | null;
}

/**
 * Looks ids up for all requests of an environment: while one look-up is under way the ids of others gather, and one
 * statement asks for all of them. Single events would otherwise cost a statement each.
 */
export class KnownLookups {
  readonly #lanes = new Map<string, Lane>();

  /** Reads the events with some ids, at once or with those of others. Rejects as `read` does. */
  find(
    environment: string,
    ids: readonly string[],
    read: (ids: readonly string[]) => Promise<KnownEvents>,
  ): Promise<KnownEvents> {
    if (ids.length >= manyIds) return read(ids);
    const lane = this.#lanes.get(environment);
    if (!lane) return this.#begin(environment, ids, read);
    if (lane.next) {
      lane.next.ids.push(...ids);
    } else {
      const gathered = [...ids];
      const found = lane.underWay.then(() => this.#begin(environment, gathered, read));
      lane.next = { ids: gathered, found };
    }
    return lane.next.found;
  }

  #begin(
    environment: string,
    ids: readonly string[],
    read: (ids: readonly string[]) => Promise<KnownEvents>,
  ): Promise<KnownEvents> {
    const found = read(ids);
    const underWay = found.then(
      () => this.#end(environment, lane),
      () => this.#end(environment, lane),
    );
    const lane: Lane = { underWay, next: null };
    this.#lanes.set(environment, lane);
    return found;
  }

  /** Nobody waits any more, unless a next look-up takes the place of this one. */
  #end(environment: string, lane: Lane): void {
    if (lane.next === null) this.#lanes.delete(environment);
  }
}

import type { KnownUsage } from './usage-event.ts';

/**
 * Half of the notes that are kept, two of each event: those of the last seconds of a process that takes in 20,000 a
 * second.
 */
const generationMaximum = 200_000;

interface Remembered {
  readonly usage: KnownUsage;
  /** Settles when it is known whether the event is in the log; null once it is. */
  readonly underWay: Promise<unknown> | null;
}

/** Events of a time, by environment and id. The ids stand alone: to join the two for each look-up costs more than it. */
class Generation {
  readonly #byEnvironment = new Map<string, Map<string, Remembered>>();
  /** Times that something was put here. */
  notes = 0;

  of(environment: string): Map<string, Remembered> | undefined {
    return this.#byEnvironment.get(environment);
  }

  set(environment: string, id: string, remembered: Remembered): void {
    let known = this.#byEnvironment.get(environment);
    if (!known) {
      known = new Map();
      this.#byEnvironment.set(environment, known);
    }
    known.set(id, remembered);
    this.notes += 1;
  }
}

/**
 * The identities of the events that a process has recorded last, which the tables may not show yet. What is
 * forgotten here is found there, and in the end by the order of the log.
 */
export class RecentUsage {
  #young = new Generation();
  #old = new Generation();

  /** The first event with an id that is in the log; undefined when none is known to be. */
  get(environment: string, id: string): KnownUsage | undefined {
    const found = this.#find(environment, id);
    return found?.underWay === null ? found.usage : undefined;
  }

  /** Waits until nothing is under way any more under some ids, as it is now. */
  async settled(environment: string, ids: readonly string[]): Promise<void> {
    const underWay = new Set<Promise<unknown>>();
    for (const id of ids) {
      const recording = this.#find(environment, id)?.underWay;
      if (recording) underWay.add(recording);
    }
    if (underWay.size > 0) await Promise.allSettled(underWay);
  }

  /** Remembers events that are being recorded, and forgets them when that fails. */
  async during(
    environment: string,
    events: ReadonlyMap<string, KnownUsage>,
    recording: Promise<unknown>,
  ): Promise<void> {
    for (const [id, usage] of events) this.#set(environment, id, { usage, underWay: recording });
    try {
      await recording;
      for (const [id, usage] of events) this.#set(environment, id, { usage, underWay: null });
    } catch (error) {
      for (const id of events.keys()) this.#remove(environment, id, recording);
      throw error;
    }
  }

  #find(environment: string, id: string): Remembered | undefined {
    return this.#young.of(environment)?.get(id) ?? this.#old.of(environment)?.get(id);
  }

  #set(environment: string, id: string, remembered: Remembered): void {
    if (this.#young.notes >= generationMaximum) {
      this.#old = this.#young;
      this.#young = new Generation();
    }
    this.#young.set(environment, id, remembered);
  }

  /** Only what this very recording put there. */
  #remove(environment: string, id: string, recording: Promise<unknown>): void {
    for (const generation of [this.#young, this.#old]) {
      const known = generation.of(environment);
      if (known?.get(id)?.underWay === recording) known.delete(id);
    }
  }
}

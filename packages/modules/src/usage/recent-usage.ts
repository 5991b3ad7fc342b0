import type { KnownUsage } from './usage-event.ts';

/** Half of the events that are remembered: those of the last seconds of a process that takes in 20,000 a second. */
const generationMaximum = 100_000;

interface Remembered {
  readonly usage: KnownUsage;
  /** Settles when it is known whether the event is in the log; null once it is. */
  readonly underWay: Promise<unknown> | null;
}

/**
 * The identities of the events that a process has recorded last, which the tables may not show yet. What is
 * forgotten here is found there, and in the end by the order of the log.
 */
export class RecentUsage {
  #young = new Map<string, Remembered>();
  #old = new Map<string, Remembered>();

  /** The first event with an id that is in the log; undefined when none is known to be. */
  get(environment: string, id: string): KnownUsage | undefined {
    const found = this.#find(keyOf(environment, id));
    return found?.underWay === null ? found.usage : undefined;
  }

  /** Waits until nothing is under way any more under some ids, as it is now. */
  async settled(environment: string, ids: readonly string[]): Promise<void> {
    const underWay = ids.map((id) => this.#find(keyOf(environment, id))?.underWay ?? null);
    await Promise.allSettled(underWay.filter((one) => one !== null));
  }

  /** Remembers events that are being recorded, and forgets them when that fails. */
  async during(
    environment: string,
    events: ReadonlyMap<string, KnownUsage>,
    recording: Promise<unknown>,
  ): Promise<void> {
    const entries = [...events].map(([id, usage]) => [keyOf(environment, id), usage] as const);
    for (const [key, usage] of entries) this.#set(key, { usage, underWay: recording });
    try {
      await recording;
      for (const [key, usage] of entries) this.#set(key, { usage, underWay: null });
    } catch (error) {
      for (const [key] of entries) this.#remove(key, recording);
      throw error;
    }
  }

  #find(key: string): Remembered | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  #set(key: string, remembered: Remembered): void {
    if (this.#young.size >= generationMaximum) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, remembered);
  }

  /** Only what this very recording put there. */
  #remove(key: string, recording: Promise<unknown>): void {
    for (const generation of [this.#young, this.#old]) {
      if (generation.get(key)?.underWay === recording) generation.delete(key);
    }
  }
}

const keyOf = (environment: string, id: string): string => `${environment} ${id}`;

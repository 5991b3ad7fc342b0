import type { AppendedVerdict, DecidedBatch, DecidedEntry } from './batch.ts';
import type { Entry } from './entry.ts';

type Unheard<State> = DecidedEntry<State> & { readonly verdict: AppendedVerdict<State> };

/**
 * Appends whose outcome was never heard, by the id of their last event. Each attempt has ids of its
 * own, so an event of the log tells which one it was.
 */
export class InDoubtAppends<State> {
  readonly #byEventId = new Map<string, Unheard<State>>();

  expect(batch: DecidedBatch<State>): void {
    for (const { entry, verdict } of batch.decided) {
      if (verdict.kind !== 'appended') continue;
      entry.attempts.add(verdict.lastEventId);
      this.#byEventId.set(verdict.lastEventId, { entry, verdict });
    }
  }

  /** The attempt that ended with this event; undefined when it is not one of ours. */
  of(eventId: string): Unheard<State> | undefined {
    return this.#byEventId.get(eventId);
  }

  /** Forgets all attempts of an entry that has come to its end. */
  forget(entry: Entry<State>): void {
    for (const id of entry.attempts) this.#byEventId.delete(id);
  }
}

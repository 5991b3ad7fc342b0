import { type AnyAggregate, BrokenInvariant } from '@counterfoil/kernel';
import { LRUCache } from 'lru-cache';
import { evolveStored } from '../log/decode.ts';
import { type EventStore, type StoredEvent, StoreUnavailable } from '../log/types.ts';

interface Folded {
  /** Revision of the last event that is folded in; -1 for none. */
  readonly revision: number;
  readonly state: unknown;
}

/** The states of records while their events pass by in order. */
export interface FoldedStates {
  /**
   * Loads what is missing to answer `before` for the first event of each stream here. Rejects with
   * `StoreUnavailable` only.
   */
  load(events: readonly SourcedEvent[]): Promise<void>;
  /** The state right before an event of the batch that was loaded last. Throws on a defect. */
  before(source: SourcedEvent): unknown;
  /** Keeps the state right after an event. */
  keep(event: StoredEvent, state: unknown): void;
}

export interface SourcedEvent {
  readonly aggregate: AnyAggregate;
  readonly event: StoredEvent;
}

const statesMaximum = 10_000;
const loadsAtOnce = 16;

/**
 * Keeps the last state of the streams that were seen last, because a publication shows a record
 * before and after its event. What is not kept is folded from the stream itself, never
 * taken from a read model, so it cannot be of another revision.
 */
export function createFoldedStates(store: EventStore, maximum = statesMaximum): FoldedStates {
  const kept = new LRUCache<string, Folded>({ max: maximum });
  /** States of the batch in hand, so that a batch of many streams cannot drive out its own. */
  let loaded = new Map<string, Folded>();
  /**
   * The streams of the batch that cannot be folded, with the defect, which is told when their
   * event's turn comes.
   */
  let failures = new Map<string, unknown>();

  const loadBefore = async ({ aggregate, event }: SourcedEvent): Promise<void> => {
    const known = kept.get(event.stream);
    const start = known && known.revision < event.revision ? known : empty(aggregate);
    try {
      loaded.set(event.stream, await foldTo(store, aggregate, event, start));
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      failures.set(event.stream, error);
    }
  };
  return {
    load: async (events) => {
      loaded = new Map();
      failures = new Map();
      const missing = firstOfEachStream(events);
      const workers = Array.from({ length: loadsAtOnce }, async () => {
        for (let next = missing.pop(); next; next = missing.pop()) await loadBefore(next);
      });
      await Promise.all(workers);
    },
    before: ({ event }) => {
      if (failures.has(event.stream)) throw failures.get(event.stream);
      const folded = loaded.get(event.stream);
      if (folded?.revision !== event.revision - 1) {
        throw new BrokenInvariant(`${event.stream}@${event.revision} came out of order`);
      }
      return folded.state;
    },
    keep: (event, state) => {
      const folded = { revision: event.revision, state };
      loaded.set(event.stream, folded);
      kept.set(event.stream, folded);
    },
  };
}

const empty = ({ initial }: AnyAggregate): Folded => ({ revision: -1, state: initial });

function firstOfEachStream(events: readonly SourcedEvent[]): SourcedEvent[] {
  const first = new Map<string, SourcedEvent>();
  for (const source of events) {
    if (!first.has(source.event.stream)) first.set(source.event.stream, source);
  }
  return [...first.values()];
}

/** Folds a stream on from `start` up to right before an event. */
async function foldTo(
  store: EventStore,
  aggregate: AnyAggregate,
  { stream, revision }: StoredEvent,
  start: Folded,
): Promise<Folded> {
  const maximum = revision - 1 - start.revision;
  if (maximum === 0) return start;
  let folded = start;
  for await (const event of store.readStream(stream, { from: start.revision + 1, maximum })) {
    if (event.revision !== folded.revision + 1) break;
    folded = { revision: event.revision, state: evolveStored(aggregate, folded.state, event) };
  }
  if (folded.revision === revision - 1) return folded;
  throw new BrokenInvariant(`${stream}@${folded.revision + 1} cannot be read`);
}

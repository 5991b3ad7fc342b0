import { type AnyAggregate, invariant } from '@counterfoil/kernel';
import { LRUCache } from 'lru-cache';
import type { HistoryEvent } from '../define/context.ts';
import type { EventStore } from '../log/types.ts';
import type { RawEvent } from './command.ts';
import { chainOf } from './history.ts';

/** Characters of events that are kept, of all streams together and of one. */
const charactersMaximum = 8 * 1024 ** 2;
const charactersOfStream = 256 * 1024;

/** About what an event takes beside its data, in characters. */
const charactersOfEvent = 512;

/** The beginning of a stream, without the events that the engine keeps beside those of the record. */
interface Kept {
  readonly events: readonly HistoryEvent<RawEvent>[];
  /** The last revision that was read; -1 for none. */
  readonly revision: number;
  readonly characters: number;
}

const nothing: Kept = { events: [], revision: -1, characters: 0 };

/**
 * Events of records that were read once, for questions that go over all of them: an event of the log never changes, so only those
 * that came since are read. Long streams are not kept (ADR 60).
 */
export class RememberedEvents {
  readonly #store: Pick<EventStore, 'readStream'>;
  readonly #kept: LRUCache<string, Kept>;

  constructor(store: Pick<EventStore, 'readStream'>) {
    this.#store = store;
    this.#kept = new LRUCache({
      maxSize: charactersMaximum,
      sizeCalculation: ({ characters }) => characters + charactersOfEvent,
    });
  }

  /**
   * The events of a record up to a revision of its stream, in order. The revision must be in the log.
   *
   * @param owner the tenant or the environment of the record
   */
  async upTo(
    aggregate: AnyAggregate,
    owner: string,
    id: string,
    revision: number,
  ): Promise<readonly HistoryEvent<RawEvent>[]> {
    const name = `${aggregate.name} ${owner} ${id}`;
    const known = this.#kept.get(name) ?? nothing;
    if (known.revision === revision) return known.events;
    if (known.revision > revision) {
      return known.events.filter((event) => event.revision <= revision);
    }
    const read = await this.#readOn(known, aggregate, owner, id, revision);
    // Another question may have read further in the meantime.
    const isNews = read.revision > (this.#kept.get(name)?.revision ?? -1);
    if (isNews && read.characters <= charactersOfStream) this.#kept.set(name, read);
    return read.events;
  }

  async #readOn(
    { events, revision: from, characters }: Kept,
    aggregate: AnyAggregate,
    owner: string,
    id: string,
    revision: number,
  ): Promise<Kept> {
    const range = { from: from + 1, maximum: revision - from };
    const added: HistoryEvent<RawEvent>[] = [];
    let [last, size] = [from, characters];
    for await (const { kind, event } of chainOf(this.#store, aggregate, owner, id, range)) {
      last = event.revision;
      if (kind !== 'event') continue;
      added.push(event);
      size += charactersOfEvent + JSON.stringify(event.data).length;
    }
    invariant(last === revision, `${aggregate.name} ${id} ends before revision ${revision}`);
    return { events: [...events, ...added], revision, characters: size };
  }
}

import {
  AppendError,
  type Appended,
  type EventStore,
  type LogItem,
  type NewEvent,
  type Position,
  type StoredEvent,
  StoreUnavailable,
} from '../../engine/src/log/types.ts';

/** The fate of the next append: it works, or one of the ways in which it may not. */
export type AppendFate =
  | 'written'
  /** Another writer was first. */
  | 'conflict'
  /** Written, but the answer is lost. */
  | 'written_unheard'
  /** Not written, and the answer is lost. */
  | 'lost_unheard'
  | 'unavailable';

/**
 * An event store in memory with faults on demand, for tests of what the writer does when the
 * real one fails at a precise moment. Everything else is tested against the real one.
 */
export class MemoryStore implements EventStore {
  readonly log: StoredEvent[] = [];
  readonly #streams = new Map<string, StoredEvent[]>();
  /** Decides the fate of each append; by default it works. */
  fate: (stream: string, events: readonly NewEvent[]) => AppendFate = () => 'written';
  isDown = false;
  appends = 0;

  async append(
    stream: string,
    events: readonly NewEvent[],
    expectedRevision: number,
  ): Promise<Appended> {
    this.appends += 1;
    await turn();
    const fate = this.isDown ? 'unavailable' : this.fate(stream, events);
    if (fate === 'unavailable') throw new AppendError('unavailable', 'down');
    if (fate === 'lost_unheard') throw new AppendError('unknown_outcome', 'timed out');
    const existing = this.#streams.get(stream) ?? [];
    if (fate === 'conflict' || existing.length - 1 !== expectedRevision) {
      throw new AppendError('conflict', 'wrong expected version');
    }
    const written = this.#write(stream, existing, events);
    if (fate === 'written_unheard') throw new AppendError('unknown_outcome', 'timed out');
    return written;
  }

  #write(stream: string, existing: StoredEvent[], events: readonly NewEvent[]): Appended {
    for (const event of events) {
      const stored: StoredEvent = {
        ...(JSON.parse(JSON.stringify(event)) as NewEvent),
        stream,
        revision: existing.length,
        position: BigInt(this.log.length + 1),
      };
      existing.push(stored);
      this.log.push(stored);
    }
    this.#streams.set(stream, existing);
    return { revision: existing.length - 1, position: BigInt(this.log.length) };
  }

  async *readStream(
    stream: string,
    { from = 0, maximum = Number.MAX_SAFE_INTEGER } = {},
  ): AsyncIterable<StoredEvent> {
    await this.ping();
    yield* (this.#streams.get(stream) ?? []).slice(from, from + maximum);
  }

  async readLast(stream: string): Promise<StoredEvent | null> {
    await this.ping();
    return this.#streams.get(stream)?.at(-1) ?? null;
  }

  async *readLog({
    prefixes,
    after,
    upTo,
  }: Parameters<EventStore['readLog']>[0]): AsyncIterable<StoredEvent> {
    await this.ping();
    for (const event of [...this.log]) {
      const isWanted = prefixes.some((prefix) => event.stream.startsWith(prefix));
      if (event.position > after && event.position <= upTo && isWanted) yield event;
    }
  }

  /** Everything that is there, once: enough for folds that are tested without a live log. */
  async *follow({
    prefixes,
    after,
  }: Parameters<EventStore['follow']>[0]): AsyncIterable<readonly LogItem[]> {
    const from = await after();
    const upTo = await this.head();
    for await (const event of this.readLog({ prefixes, after: from, upTo })) {
      yield [{ kind: 'event', event }];
    }
    yield [{ kind: 'caught_up' }];
  }

  async head(): Promise<Position> {
    return BigInt(this.log.length);
  }

  async time(): Promise<number> {
    await this.ping();
    return Date.now();
  }

  async ping(): Promise<void> {
    await turn();
    if (this.isDown) throw new StoreUnavailable('down');
  }

  async close(): Promise<void> {}
}

/** Lets everything else that is ready run first, as a network would. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

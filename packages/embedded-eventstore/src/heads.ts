/**
 * The writer's knowledge of streams: the state after every append that was decided, on disk or
 * not. Heads with undurable events stay in memory; the others can be forgotten
 * and are loaded again from disk.
 */
import { LRUCache } from 'lru-cache';
import { limits } from './limits.ts';
import { dataOf, eventIdOf, isJson } from './record.ts';
import type { Storage, StreamRow } from './storage.ts';
import { parseStreamMetadata, type StreamMetadata } from './stream-metadata.ts';
import { isMetadataStream } from './stream-name.ts';

/** An event that is decided and not yet on disk. */
export interface UndurableEvent {
  readonly id: string;
  readonly revision: number;
  readonly position: number;
}

/** The end of a stream in memory, undurable events included. */
export interface Head {
  readonly name: string;
  readonly nameBytes: Buffer;
  /** 0 until the stream gets its first event. */
  id: number;
  lastRevision: number;
  tombstonePosition: number | undefined;
  /** For a metadata stream: the content of its last event. */
  content: { readonly json: string; readonly parsed: StreamMetadata } | undefined;
  /** Decided events that are not on disk yet, oldest first. */
  undurable: UndurableEvent[];
}

/** The heads that the writer decides on, a bounded number of them. */
export interface Heads {
  get(name: string): Head;
  /** Keeps the head in memory until its events are durable. */
  pin(head: Head): void;
  /** Drops the events that have become durable up to `position` in these streams. */
  release(streamNames: Iterable<string>, position: number): void;
  /** Id of the event at a revision, undurable ones included. */
  eventIdAt(head: Head, revision: number): string | undefined;
  /** Position of the event at a revision, undurable ones included. */
  positionAt(head: Head, revision: number): number | undefined;
  /** Revision of an event with this id among the last events of the stream. */
  recentRevisionOf(head: Head, eventId: string): number | undefined;
  /** Remembers a decided event for `recentRevisionOf`. */
  remember(head: Head, eventId: string, revision: number): void;
}

/** Creates the heads of one storage. */
export function createHeads(storage: Storage): Heads {
  const pinned = new Map<string, Head>();
  const cached = new LRUCache<string, Head>({ max: limits.cachedHeads });
  const windows = new LRUCache<number, Map<string, number>>({ max: limits.anyWindowStreams });

  const storedIdAt = (streamId: number, revision: number): string | undefined => {
    const entry = storage.streamAt(streamId, revision);
    return entry && eventIdOf(entry.record);
  };

  const windowOf = (head: Head): Map<string, number> => {
    const known = windows.get(head.id);
    if (known !== undefined) return known;
    const window = new Map<string, number>();
    const first = Math.max(0, head.lastRevision + 1 - limits.anyWindowEvents);
    for (let revision = first; revision <= head.lastRevision; revision += 1) {
      const id = undurableAt(head, revision)?.id ?? storedIdAt(head.id, revision);
      if (id !== undefined) window.set(id, revision);
    }
    windows.set(head.id, window);
    return window;
  };

  return {
    get: (name) => {
      const known = pinned.get(name) ?? cached.get(name);
      if (known !== undefined) return known;
      const head = loadHead(storage, name);
      cached.set(name, head);
      return head;
    },
    pin: (head) => {
      pinned.set(head.name, head);
      cached.set(head.name, head);
    },
    release: (streamNames, position) => {
      for (const name of streamNames) {
        const head = pinned.get(name);
        if (head === undefined) continue;
        head.undurable = head.undurable.filter((event) => event.position > position);
        if (head.undurable.length === 0) pinned.delete(name);
      }
    },
    eventIdAt: (head, revision) =>
      undurableAt(head, revision)?.id ??
      (head.id === 0 ? undefined : storedIdAt(head.id, revision)),
    positionAt: (head, revision) =>
      undurableAt(head, revision)?.position ?? storage.streamAt(head.id, revision)?.position,
    recentRevisionOf: (head, eventId) => (head.id === 0 ? undefined : windowOf(head).get(eventId)),
    remember: (head, eventId, revision) => {
      // Streams that are never written with ANY have no window and pay nothing for it.
      const window = windows.peek(head.id);
      if (window === undefined) return;
      window.set(eventId, revision);
      if (window.size <= limits.anyWindowEvents) return;
      for (const oldest of window.keys()) {
        window.delete(oldest);
        break;
      }
    },
  };
}

function undurableAt(head: Head, revision: number): UndurableEvent | undefined {
  const first = head.undurable[0];
  return first === undefined ? undefined : head.undurable[revision - first.revision];
}

function loadHead(storage: Storage, name: string): Head {
  const row = storage.findStream(name);
  return {
    name,
    nameBytes: Buffer.from(name),
    id: row?.id ?? 0,
    lastRevision: row?.lastRevision ?? -1,
    tombstonePosition: row?.tombstonePosition,
    content: row && isMetadataStream(name) ? readContent(storage, row) : undefined,
    undurable: [],
  };
}

/** The content of the last event of a metadata stream; undefined when it is not JSON. */
export function readContent(
  storage: Storage,
  row: StreamRow,
): { json: string; parsed: StreamMetadata } | undefined {
  const record = storage.streamAt(row.id, row.lastRevision)?.record;
  if (record === undefined || !isJson(record)) return undefined;
  const json = dataOf(record).toString();
  return { json, parsed: parseStreamMetadata(json) };
}

import { type AnyAggregate, Problem } from '@counterfoil/kernel';
import { LRUCache } from 'lru-cache';
import type { Principal, Reader } from '../define/context.ts';
import { isProjection } from '../define/tables.ts';
import type { BeginRequest } from '../http/host.ts';
import { beyondLog } from '../log/position.ts';
import type { EventStore, Position } from '../log/types.ts';

/** The time that a read waits for the read model to show what its caller has already seen. */
const implicitWaitMilliseconds = 1_000;
const explicitWaitMilliseconds = 2_000;

interface Write {
  readonly position: Position;
  readonly at: number;
}

/** Keys whose last write is remembered; the oldest are forgotten and read without waiting. */
const keysMaximum = 100_000;

/**
 * The last write of every API key in this process, so that a key reads its own writes, and the
 * oldest write that no read model is known to show, so that reads can say how far behind they are.
 */
export class RecentWrites {
  readonly #byKey = new LRUCache<string, Write>({ max: keysMaximum });
  readonly #elsewhere = new LRUCache<string, Position>({ max: keysMaximum });
  #oldestUnseen: Write | null = null;
  #newest: Position = 0n;

  note(keyId: string, position: Position, now: number): void {
    const known = this.#byKey.get(keyId);
    if (!known || position > known.position) this.#byKey.set(keyId, { position, at: now });
    if (position > this.#newest) {
      this.#newest = position;
      this.#oldestUnseen ??= { position, at: now };
    }
  }

  /** The same of a write that was handed over: this process has not made it itself, so that its memory may not have it yet. */
  noteElsewhere(keyId: string, position: Position, now: number): void {
    this.note(keyId, position, now);
    if (position > this.elsewhereOf(keyId)) this.#elsewhere.set(keyId, position);
  }

  /** The position of the last write by this key that was handed over; zero for none. */
  elsewhereOf(keyId: string): Position {
    return this.#elsewhere.get(keyId) ?? 0n;
  }

  /** Position that a read by this key should have reached; null when it has written nothing. */
  lastOf(keyId: string): Position | null {
    return this.#byKey.get(keyId)?.position ?? null;
  }

  /** Milliseconds since the oldest write of this process that is not yet shown; null if all are. */
  lag(projected: Position, now: number): number | null {
    if (projected >= this.#newest) this.#oldestUnseen = null;
    else if (this.#oldestUnseen && projected >= this.#oldestUnseen.position) {
      // Which write is the oldest now is not known exactly; from here on is a lower bound.
      this.#oldestUnseen = { position: this.#newest, at: now };
    }
    return this.#oldestUnseen ? Math.max(0, now - this.#oldestUnseen.at) : null;
  }
}

/** The read model, as far as a request needs it. */
export interface ReadSide {
  /** `atLeast`: tables that have not reached this position are refused with 503, not read. */
  reader(principal: Principal, options?: { readonly atLeast?: Position }): Reader;
  readonly projected: {
    position(): Position;
    waitFor(position: Position, timeoutMilliseconds: number): Promise<boolean>;
  };
  /** Position of a table that the others have left behind; null for one that is level. */
  behindAt?(table: string): Position | null;
  /** For how many milliseconds it has been left behind, at least; null for one that is level. */
  lagOf?(table: string): number | null;
}

export interface ReadsOptions {
  readonly streams: { readonly store: Pick<EventStore, 'head'> };
  readonly readSide: ReadSide;
  readonly recentWrites: RecentWrites;
  readonly now: () => number;
}

/** Tells whether the log has a record. */
export type InLog = (aggregate: AnyAggregate, id: string) => Promise<boolean>;

/** The progress of a request, in all the places that it works in. */
export interface RequestProgress {
  replayed: boolean;
  /** The age of what was read, as far as it is known, in milliseconds; null when all was shown. */
  lagMilliseconds: number | null;
  /** The last write of the caller before this request: later ones of other requests concern it not. */
  readonly writtenBefore: Position | null;
  /** The position of the last write; null before the first. */
  writtenAt: Position | null;
  /** The position up to which all that was read shows the log; null before the first read. */
  readAt: Position | null;
}

/** The progress of a request that begins, of a caller who has written up to a position. */
export const newProgress = (writtenBefore: Position | null): RequestProgress => ({
  writtenBefore,
  replayed: false,
  lagMilliseconds: null,
  writtenAt: null,
  readAt: null,
});

/** Returns a reader that first waits until the read model shows what the caller must see. */
export function awaitingReader(
  { streams, readSide, recentWrites, now }: ReadsOptions,
  { principal, minimumPosition }: Pick<BeginRequest, 'principal' | 'minimumPosition'>,
  progress: RequestProgress,
  isInLog: InLog,
): Reader {
  const { projected } = readSide;
  const atLeast = minimumPosition === null ? {} : { atLeast: minimumPosition };
  const reader = readSide.reader(principal, atLeast);
  const ownWrite = (): Position | null => {
    const { writtenAt, writtenBefore } = progress;
    return writtenAt === null || (writtenBefore ?? 0n) > writtenAt ? writtenBefore : writtenAt;
  };
  const untilShown = async ({ name }: { readonly name: string }): Promise<void> => {
    if (
      minimumPosition !== null &&
      !(await projected.waitFor(minimumPosition, explicitWaitMilliseconds))
    ) {
      throw await notReached(streams.store, minimumPosition);
    }
    const own = ownWrite();
    if (own !== null) await projected.waitFor(own, implicitWaitMilliseconds);
    const reached = projected.position();
    const lags = [
      progress.lagMilliseconds,
      recentWrites.lag(reached, now()),
      readSide.lagOf?.(name),
    ];
    const known = lags.filter((lag) => typeof lag === 'number');
    progress.lagMilliseconds = known.length === 0 ? null : Math.max(...known);
    // What is read afterwards shows at least this much of the log. A list of several tables shows
    // as much as the one that is furthest behind.
    const shown = readSide.behindAt?.(name) ?? reached;
    if (progress.readAt === null || shown < progress.readAt) progress.readAt = shown;
  };
  /**
   * Answers null, unless the table lacks what this caller wrote last: the record may be just that. Of a record with
   * an id the log itself says whether it is there (D46).
   */
  const nothingFound = async (
    { name, recordsOf }: { readonly name: string; readonly recordsOf?: AnyAggregate },
    id?: string,
  ): Promise<null> => {
    const own = ownWrite();
    const shown = readSide.behindAt?.(name) ?? projected.position();
    if (own === null || shown >= own) return null;
    if (recordsOf && id !== undefined && !(await isInLog(recordsOf, id))) return null;
    throw notShown('The read model does not show your last write yet.', own);
  };
  return {
    find: async (table, key) => {
      await untilShown(table);
      return (await reader.find(table, key)) ?? nothingFound(table, key);
    },
    findMany: async (table, keys) => {
      await untilShown(table);
      return reader.findMany(table, keys);
    },
    ids: async (table, filters, maximum) => {
      await untilShown(table);
      return reader.ids(table, filters, maximum);
    },
    first: async (table, filters) => {
      await untilShown(table);
      return (await reader.first(table, filters)) ?? nothingFound(table);
    },
    list: async (table, request, filters) => {
      await untilShown(table);
      return reader.list(table, request, filters);
    },
    query: async (tables, select) => {
      for (const table of tables) if (isProjection(table)) await untilShown(table);
      return reader.query(tables, select);
    },
  };
}

/** The refusal of a read that must show a position: 400 when the log itself ends before it, 503 otherwise. */
async function notReached(store: Pick<EventStore, 'head'>, position: Position): Promise<Problem> {
  const newest = await store.head().catch(() => null);
  if (newest !== null && position > newest) return beyondLog(position, newest);
  return notShown(`The read model has not reached position ${position} yet.`, position);
}

const notShown = (what: string, position: Position): Problem =>
  new Problem('service_unavailable', `${what} Retry shortly.`, {
    retryAfterSeconds: 1,
    details: { minimum_position: String(position) },
  });

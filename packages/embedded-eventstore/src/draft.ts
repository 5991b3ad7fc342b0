/**
 * Building one atomic write: gives events their revisions and positions, encodes them and moves
 * the heads on, so that the next decision already sees them.
 */
import { randomUUID } from 'node:crypto';
import type { PendingWrite } from './commit-group.ts';
import type { CommitEntry } from './entry.ts';
import type { Head, Heads } from './heads.ts';
import { encodeRecord, type ProposedEvent, TOMBSTONE_REVISION } from './record.ts';
import type { Counters, StreamRow } from './storage.ts';
import { parseStreamMetadata } from './stream-metadata.ts';
import { isMetadataStream } from './stream-name.ts';

/** An atomic write that is being put together. */
export interface Draft {
  readonly entries: CommitEntry[];
  readonly heads: Set<Head>;
  bytes: number;
  /** Position of the last event added, or 0. */
  position: number;
}

/** Puts writes together for one writer. */
export interface Drafter {
  addEvent(draft: Draft, head: Head, event: ProposedEvent): void;
  /** Adds the event that deletes a stream for ever. */
  addTombstone(draft: Draft, head: Head): void;
  /** The finished write; drafts must be finished in the order in which they were begun. */
  finish(draft: Draft, settle: PendingWrite['settle']): PendingWrite;
}

/** An empty draft. */
export function newDraft(): Draft {
  return { entries: [], heads: new Set(), bytes: 0, position: 0 };
}

/** Creates the drafter of one writer; it owns the counters from here on. */
export function createDrafter(start: Counters, heads: Heads, now: () => number): Drafter {
  let { nextPosition, nextStreamId } = start;

  const add = (
    draft: Draft,
    head: Head,
    event: ProposedEvent,
    revision: number | typeof TOMBSTONE_REVISION,
  ): number => {
    if (head.id === 0) head.id = nextStreamId++;
    const position = nextPosition;
    const record = encodeRecord(event, {
      streamName: head.nameBytes,
      streamId: head.id,
      revision,
      position,
      createdAt: now(),
    });
    nextPosition += record.length;
    const entry = { position, record, streamId: head.id };
    draft.entries.push(typeof revision === 'bigint' ? entry : { ...entry, revision });
    draft.heads.add(head);
    draft.bytes += record.length;
    draft.position = position;
    heads.pin(head);
    return position;
  };

  return {
    addEvent: (draft, head, event) => {
      const revision = head.lastRevision + 1;
      const position = add(draft, head, event, revision);
      head.lastRevision = revision;
      head.undurable.push({ id: event.id, revision, position });
      heads.remember(head, event.id, revision);
      if (isMetadataStream(head.name)) head.content = contentOf(event);
    },
    addTombstone: (draft, head) => {
      const event = systemEvent('$streamDeleted', Buffer.alloc(0), false);
      const position = add(draft, head, event, TOMBSTONE_REVISION);
      head.tombstonePosition = position;
      // No lookup asks for this revision; the entry keeps the head in memory until it is durable.
      head.undurable.push({ id: event.id, revision: head.lastRevision + 1, position });
    },
    finish: (draft, settle) => ({
      entries: draft.entries,
      bytes: draft.bytes,
      streams: rowsOf(draft.heads),
      counters: { nextPosition, nextStreamId },
      settle,
    }),
  };
}

/** An event that the server writes by itself. */
export function systemEvent(type: string, data: Buffer, isJson: boolean): ProposedEvent {
  return { id: randomUUID(), type, isJson, data, metadata: Buffer.alloc(0) };
}

function contentOf(event: ProposedEvent): Head['content'] {
  if (!event.isJson) return undefined;
  const json = Buffer.from(event.data).toString();
  return { json, parsed: parseStreamMetadata(json) };
}

function rowsOf(heads: Iterable<Head>): Map<string, StreamRow> {
  const rows = new Map<string, StreamRow>();
  for (const { name, id, lastRevision, tombstonePosition } of heads) {
    rows.set(name, {
      id,
      lastRevision,
      ...(tombstonePosition === undefined ? {} : { tombstonePosition }),
    });
  }
  return rows;
}

/**
 * The single writer. Every append is decided at once against the state that includes all earlier
 * decisions, then queued for the next commit; its outcome is known to the caller only when it,
 * and everything it was decided upon, is on disk.
 */
import { randomUUID } from 'node:crypto';
import { checkCommit, type ExpectedRevision, type StreamView } from './commit-check.ts';
import { createCommitQueue, type PendingWrite } from './commit-group.ts';
import { createDurableWatch, type DurableWatch } from './durable-watch.ts';
import { createHeads, type Head } from './heads.ts';
import { limits } from './limits.ts';
import { encodeRecord, type ProposedEvent, TOMBSTONE_REVISION } from './record.ts';
import type { CommitEntry, Storage, StreamRow } from './storage.ts';
import {
  isSoftDeleted,
  parseStreamMetadata,
  SOFT_DELETE_JSON,
  withTruncateBefore,
} from './stream-metadata.ts';
import { isMetadataStream, metadataStreamOf, originalStreamOf } from './stream-name.ts';

/** The store cannot take writes: it is closing, too busy or has failed. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}

export interface AppendRequest {
  readonly streamName: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly ProposedEvent[];
}

export type Refusal =
  | { readonly kind: 'wrong-revision'; readonly lastRevision: number }
  | { readonly kind: 'deleted' };

export type AppendOutcome =
  | Refusal
  /** `lastRevision` is -1 and `position` absent when nothing was or had been written. */
  | { readonly kind: 'success'; readonly lastRevision: number; readonly position?: number };

export type DeleteOutcome = Refusal | { readonly kind: 'success'; readonly position: number };

export interface EventStore {
  readonly generation: string;
  readonly storage: Storage;
  readonly durable: DurableWatch;
  /** Rejects with `StoreUnavailableError` when the outcome is not known or nothing was written. */
  append(request: AppendRequest): Promise<AppendOutcome>;
  softDelete(streamName: string, expected: ExpectedRevision): Promise<DeleteOutcome>;
  tombstone(streamName: string, expected: ExpectedRevision): Promise<DeleteOutcome>;
  /** Whether so much waits for the disk that senders should pause. */
  isCongested(): boolean;
  /** Resolves when what is queued now has been written. */
  idle(): Promise<void>;
  /** Refuses further writes, finishes those that were accepted and closes the files. */
  close(): Promise<void>;
}

export interface EventStoreOptions {
  readonly storage: Storage;
  /** Milliseconds since 1970. */
  now(): number;
  /** Called once when a commit failed and the store has stopped. */
  onFailure(error: Error): void;
}

interface Draft {
  readonly entries: CommitEntry[];
  readonly heads: Set<Head>;
  bytes: number;
  position: number;
}

/** Creates the writer of one storage. */
export function createEventStore(options: EventStoreOptions): EventStore {
  const { storage } = options;
  const heads = createHeads(storage);
  const durable = createDurableWatch(storage.counters.nextPosition - 1);
  let { nextPosition, nextStreamId } = storage.counters;
  let refusal: string | undefined;

  const queue = createCommitQueue({
    commit: (batch) => storage.commit(batch),
    onDurable: (batch) => {
      const last = batch.entries.at(-1);
      if (last === undefined) return;
      heads.release(batch.streams.keys(), last.position);
      durable.advance(last.position, batch.streams.keys());
    },
    onFailure: (error) => {
      refusal = `the event store has stopped because a commit failed: ${error.message}`;
      options.onFailure(error);
    },
  });

  const assertWritable = (): void => {
    if (refusal !== undefined) throw new StoreUnavailableError(refusal);
    if (queue.undurableBytes() > limits.queueRefuseBytes) {
      throw new StoreUnavailableError('Server Is Too Busy');
    }
  };

  const metadataHeadOf = (head: Head): Head | undefined =>
    isMetadataStream(head.name) ? undefined : heads.get(metadataStreamOf(head.name));

  const originalHeadOf = (head: Head): Head | undefined =>
    isMetadataStream(head.name) ? heads.get(originalStreamOf(head.name)) : undefined;

  const viewOf = (head: Head): StreamView => {
    const metadata = metadataHeadOf(head);
    const original = originalHeadOf(head);
    return {
      lastRevision: head.lastRevision,
      tombstoned: (head.tombstonePosition ?? original?.tombstonePosition) !== undefined,
      softDeleted: metadata?.content !== undefined && isSoftDeleted(metadata.content.parsed),
      hasMetadata: metadata !== undefined && metadata.lastRevision >= 0,
      storedIdAt: (revision) => heads.eventIdAt(head, revision),
      recentRevisionOf: (eventId) => heads.recentRevisionOf(head, eventId),
    };
  };

  const stage = (draft: Draft, head: Head, event: ProposedEvent): number => {
    if (head.id === 0) head.id = nextStreamId++;
    const revision = head.lastRevision + 1;
    const position = nextPosition;
    const record = encodeRecord(event, {
      streamName: head.nameBytes,
      streamId: head.id,
      revision,
      position,
      createdAt: options.now(),
    });
    nextPosition += record.length;
    head.lastRevision = revision;
    head.undurable.push({ id: event.id, revision, position });
    heads.remember(head, event.id, revision);
    if (isMetadataStream(head.name)) head.content = contentOf(event);
    heads.pin(head);
    draft.entries.push({ position, record, streamId: head.id, revision });
    draft.heads.add(head);
    draft.bytes += record.length;
    draft.position = position;
    return revision;
  };

  const stageTombstone = (draft: Draft, head: Head): void => {
    if (head.id === 0) head.id = nextStreamId++;
    const position = nextPosition;
    const record = encodeRecord(systemEvent('$streamDeleted', Buffer.alloc(0), false), {
      streamName: head.nameBytes,
      streamId: head.id,
      revision: TOMBSTONE_REVISION,
      position,
      createdAt: options.now(),
    });
    nextPosition += record.length;
    head.tombstonePosition = position;
    // The revision -1 matches no lookup; the entry only keeps the head in memory until durable.
    head.undurable.push({ id: '', revision: -1, position });
    heads.pin(head);
    draft.entries.push({ position, record, streamId: head.id });
    draft.heads.add(head);
    draft.bytes += record.length;
    draft.position = position;
  };

  /** Gives a soft-deleted stream back its metadata with everything before `revision` hidden. */
  const stageUndelete = (draft: Draft, metadata: Head, revision: number): void => {
    if (metadata.content === undefined) return;
    const json = Buffer.from(withTruncateBefore(metadata.content.json, revision));
    stage(draft, metadata, systemEvent('$metadata', json, true));
  };

  const submit = <Outcome>(draft: Draft, outcome: Outcome): Promise<Outcome> =>
    new Promise((resolve, reject) => {
      const write: PendingWrite = {
        entries: draft.entries,
        bytes: draft.bytes,
        streams: rowsOf(draft.heads),
        counters: { nextPosition, nextStreamId },
        settle: (error) => {
          if (error === undefined) resolve(outcome);
          else reject(new StoreUnavailableError(`the commit failed: ${error.message}`));
        },
      };
      queue.enqueue(write);
    });

  /** Answers at once when the decision rests on durable events only, else when they are. */
  const answer = <Outcome>(head: Head, outcome: Outcome): Promise<Outcome> => {
    const other = metadataHeadOf(head) ?? originalHeadOf(head);
    const settled = head.undurable.length === 0 && (other?.undurable.length ?? 0) === 0;
    return settled ? Promise.resolve(outcome) : submit(newDraft(), outcome);
  };

  const idempotent = (head: Head, softDeleted: boolean, lastRevision: number): AppendOutcome => {
    const position = softDeleted ? undefined : heads.positionAt(head, lastRevision);
    return { kind: 'success', lastRevision, ...(position === undefined ? {} : { position }) };
  };

  const writeEvents = (head: Head, softDeleted: boolean, events: readonly ProposedEvent[]) => {
    const draft = newDraft();
    const metadata = metadataHeadOf(head);
    const original = originalHeadOf(head);
    // Writing the metadata of a soft-deleted stream brings the stream back as well.
    const revived =
      original !== undefined && head.content !== undefined && isSoftDeleted(head.content.parsed);
    const firstRevision = head.lastRevision + 1;
    for (const event of events) stage(draft, head, event);
    const { position } = draft;
    const { lastRevision } = head;
    if (softDeleted && metadata) stageUndelete(draft, metadata, firstRevision);
    if (revived) stageUndelete(draft, head, original.lastRevision + 1);
    return submit<AppendOutcome>(draft, { kind: 'success', lastRevision, position });
  };

  const deleteWith = async (
    streamName: string,
    expected: ExpectedRevision,
    write: (draft: Draft, head: Head) => Refusal | undefined,
  ): Promise<DeleteOutcome> => {
    assertWritable();
    const head = heads.get(streamName);
    const decision = checkCommit(viewOf(head), expected, [randomUUID()]);
    if (decision.kind !== 'write') return answer(head, refusalOf(decision.kind, head));
    const draft = newDraft();
    const refused = write(draft, head);
    if (refused !== undefined) return answer(head, refused);
    return submit(draft, { kind: 'success', position: draft.position });
  };

  return {
    generation: storage.generation,
    storage,
    durable,
    append: async ({ streamName, expected, events }) => {
      assertWritable();
      const head = heads.get(streamName);
      const view = viewOf(head);
      const decision = checkCommit(
        view,
        expected,
        events.map((event) => event.id),
      );
      if (decision.kind === 'idempotent') {
        return answer(head, idempotent(head, view.softDeleted, decision.lastRevision));
      }
      if (decision.kind !== 'write') return answer(head, refusalOf(decision.kind, head));
      if (events.length > 0) return writeEvents(head, view.softDeleted, events);
      return answer<AppendOutcome>(head, { kind: 'success', lastRevision: head.lastRevision });
    },
    softDelete: (streamName, expected) =>
      deleteWith(streamName, expected, (draft, head) => {
        const metadata = heads.get(metadataStreamOf(streamName));
        if (head.lastRevision < 0 && metadata.lastRevision < 0) {
          return { kind: 'wrong-revision', lastRevision: -1 };
        }
        stage(draft, metadata, systemEvent('$metadata', SOFT_DELETE_JSON, true));
        return undefined;
      }),
    tombstone: (streamName, expected) =>
      deleteWith(streamName, expected, (draft, head) => {
        stageTombstone(draft, head);
        return undefined;
      }),
    isCongested: () => queue.undurableBytes() > limits.queuePauseBytes,
    idle: () => queue.idle(),
    close: async () => {
      refusal ??= 'the event store is shutting down';
      await queue.idle();
      await storage.close();
    },
  };
}

function newDraft(): Draft {
  return { entries: [], heads: new Set(), bytes: 0, position: 0 };
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

function refusalOf(kind: 'wrong-revision' | 'deleted' | 'idempotent', head: Head): Refusal {
  return kind === 'deleted'
    ? { kind }
    : { kind: 'wrong-revision', lastRevision: head.lastRevision };
}

function systemEvent(type: string, data: Buffer, isJson: boolean): ProposedEvent {
  return { id: randomUUID(), type, isJson, data, metadata: Buffer.alloc(0) };
}

function contentOf(event: ProposedEvent): Head['content'] {
  if (!event.isJson) return undefined;
  const json = Buffer.from(event.data).toString();
  return { json, parsed: parseStreamMetadata(json) };
}

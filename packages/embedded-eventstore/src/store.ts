/**
 * The single writer. Every append is decided at once against the state that includes all earlier
 * decisions, then queued for the next commit; its outcome is known to the caller only when it,
 * and everything it was decided upon, is on disk.
 */
import { randomUUID } from 'node:crypto';
import {
  type CommitDecision,
  checkCommit,
  type ExpectedRevision,
  type StreamView,
} from './commit-check.ts';
import { type CommitQueue, createCommitQueue } from './commit-group.ts';
import { createDrafter, type Draft, type Drafter, newDraft, systemEvent } from './draft.ts';
import { createDurableWatch, type DurableWatch } from './durable-watch.ts';
import { createHeads, type Head, type Heads } from './heads.ts';
import { limits } from './limits.ts';
import type { ProposedEvent } from './record.ts';
import type { Storage } from './storage.ts';
import { isSoftDeleted, SOFT_DELETE_JSON, withTruncateBefore } from './stream-metadata.ts';
import { isMetadataStream, metadataStreamOf, originalStreamOf } from './stream-name.ts';

/** The store has stopped or is closing: the append may or may not have been written. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}

/** Too much waits for the disk; nothing was written. */
export class StoreBusyError extends Error {
  override readonly name = 'StoreBusyError';
}

/** Events for one stream, at an expected revision. */
export interface AppendRequest {
  readonly streamName: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly ProposedEvent[];
}

/** The reason why a write is refused. */
export type Refusal =
  | { readonly kind: 'wrong-revision'; readonly lastRevision: number }
  | { readonly kind: 'deleted' };

/** The outcome of an append. */
export type AppendOutcome =
  | Refusal
  /** `lastRevision` is -1 and `position` absent when nothing was or had been written. */
  | { readonly kind: 'success'; readonly lastRevision: number; readonly position?: number };

/** The outcome of a deletion. */
export type DeleteOutcome = Refusal | { readonly kind: 'success'; readonly position: number };

/** The store behind the server: it decides, writes and watches. */
export interface EventStore {
  readonly generation: string;
  readonly storage: Storage;
  readonly durable: DurableWatch;
  /** Rejects with `StoreUnavailableError` or `StoreBusyError`; the calls below do so as well. */
  append(request: AppendRequest): Promise<AppendOutcome>;
  /** Hides the stream; appending to it later continues its numbering. */
  softDelete(streamName: string, expected: ExpectedRevision): Promise<DeleteOutcome>;
  /** Deletes the stream for ever; its name cannot be used again. */
  tombstone(streamName: string, expected: ExpectedRevision): Promise<DeleteOutcome>;
  /** Tells whether so much waits for the disk that senders should pause. */
  isCongested(): boolean;
  /** Resolves when everything queued so far has been written. */
  idle(): Promise<void>;
  /** Refuses further writes, finishes those that were accepted and closes the files. */
  close(): Promise<void>;
}

/** The options of a store. */
export interface EventStoreOptions {
  readonly storage: Storage;
  /** Milliseconds since 1970. */
  now(): number;
  /** Called once when a commit failed and the store has stopped. */
  onFailure(error: Error): void;
}

interface Writer {
  readonly heads: Heads;
  readonly drafter: Drafter;
  readonly queue: CommitQueue;
  refusal: string | undefined;
}

/** Creates the writer of one storage. */
export function createEventStore(options: EventStoreOptions): EventStore {
  const { storage } = options;
  const heads = createHeads(storage);
  const durable = createDurableWatch(storage.counters.nextPosition - 1);
  const queue = createCommitQueue({
    commit: (batch) => storage.commit(batch),
    onDurable: (batch) => {
      const last = batch.entries.at(-1);
      if (last === undefined) return;
      heads.release(batch.streams.keys(), last.position);
      durable.advance(last.position, batch.streams.keys());
    },
    onFailure: (error) => {
      writer.refusal = `the event store has stopped because a commit failed: ${error.message}`;
      options.onFailure(error);
    },
  });
  const drafter = createDrafter(storage.counters, heads, options.now);
  const writer: Writer = { heads, drafter, queue, refusal: undefined };

  return {
    generation: storage.generation,
    storage,
    durable,
    append: async (request) => append(writer, request),
    softDelete: async (streamName, expected) => softDelete(writer, streamName, expected),
    tombstone: async (streamName, expected) => tombstone(writer, streamName, expected),
    isCongested: () => queue.undurableBytes() > limits.queuePauseBytes,
    idle: () => queue.idle(),
    close: async () => {
      writer.refusal ??= 'the event store is shutting down';
      await queue.idle();
      await storage.close();
    },
  };
}

function assertWritable(writer: Writer): void {
  if (writer.refusal !== undefined) throw new StoreUnavailableError(writer.refusal);
  if (writer.queue.undurableBytes() > limits.queueRefuseBytes) {
    throw new StoreBusyError('Server Is Too Busy');
  }
}

function append(writer: Writer, request: AppendRequest): Promise<AppendOutcome> {
  assertWritable(writer);
  const { streamName, expected, events } = request;
  const head = writer.heads.get(streamName);
  const view = viewOf(writer, head);
  const eventIds = events.map((event) => event.id);
  const decision = checkCommit(view, expected, eventIds);
  if (decision.kind === 'write') {
    return events.length > 0
      ? writeEvents(writer, head, view.softDeleted, events)
      : answer(writer, head, { kind: 'success', lastRevision: head.lastRevision });
  }
  if (decision.kind !== 'idempotent') return answer(writer, head, refusalOf(decision, head));
  const { lastRevision } = decision;
  // The real server cannot look up the position of an event that a soft delete hides.
  const position = view.softDeleted ? undefined : writer.heads.positionAt(head, lastRevision);
  return answer(writer, head, {
    kind: 'success',
    lastRevision,
    ...(position === undefined ? {} : { position }),
  });
}

function writeEvents(
  writer: Writer,
  head: Head,
  softDeleted: boolean,
  events: readonly ProposedEvent[],
): Promise<AppendOutcome> {
  const draft = newDraft();
  const original = originalHeadOf(writer, head);
  // Writing the metadata of a soft-deleted stream brings the stream back as well.
  const revives =
    original !== undefined && head.content !== undefined && isSoftDeleted(head.content.parsed);
  const firstRevision = head.lastRevision + 1;
  for (const event of events) writer.drafter.addEvent(draft, head, event);
  const { position } = draft;
  const { lastRevision } = head;
  if (softDeleted) addUndelete(writer, draft, metadataHeadOf(writer, head), firstRevision);
  if (revives) addUndelete(writer, draft, head, original.lastRevision + 1);
  return submit(writer, draft, { kind: 'success', lastRevision, position });
}

/** Gives a soft-deleted stream its metadata back, with everything before `revision` hidden. */
function addUndelete(
  writer: Writer,
  draft: Draft,
  metadata: Head | undefined,
  revision: number,
): void {
  if (metadata?.content === undefined) return;
  const json = Buffer.from(withTruncateBefore(metadata.content.json, revision));
  writer.drafter.addEvent(draft, metadata, systemEvent('$metadata', json, true));
}

function softDelete(
  writer: Writer,
  streamName: string,
  expected: ExpectedRevision,
): Promise<DeleteOutcome> {
  assertWritable(writer);
  const head = writer.heads.get(streamName);
  const metadata = writer.heads.get(metadataStreamOf(streamName));
  const decision = checkCommit(viewOf(writer, head), expected, [randomUUID()]);
  if (decision.kind !== 'write') return answer(writer, head, refusalOf(decision, head));
  if (head.lastRevision < 0 && metadata.lastRevision < 0) {
    return answer(writer, head, { kind: 'wrong-revision', lastRevision: -1 });
  }
  const draft = newDraft();
  writer.drafter.addEvent(draft, metadata, systemEvent('$metadata', SOFT_DELETE_JSON, true));
  return submit(writer, draft, { kind: 'success', position: draft.position });
}

function tombstone(
  writer: Writer,
  streamName: string,
  expected: ExpectedRevision,
): Promise<DeleteOutcome> {
  assertWritable(writer);
  const head = writer.heads.get(streamName);
  const decision = checkCommit(viewOf(writer, head), expected, [randomUUID()]);
  if (decision.kind !== 'write') return answer(writer, head, refusalOf(decision, head));
  const draft = newDraft();
  writer.drafter.addTombstone(draft, head);
  return submit(writer, draft, { kind: 'success', position: draft.position });
}

function metadataHeadOf(writer: Writer, head: Head): Head | undefined {
  if (isMetadataStream(head.name)) return undefined;
  return writer.heads.get(metadataStreamOf(head.name));
}

function originalHeadOf(writer: Writer, head: Head): Head | undefined {
  if (!isMetadataStream(head.name)) return undefined;
  return writer.heads.get(originalStreamOf(head.name));
}

function viewOf(writer: Writer, head: Head): StreamView {
  const metadata = metadataHeadOf(writer, head);
  const original = originalHeadOf(writer, head);
  return {
    lastRevision: head.lastRevision,
    // The metadata of a stream that was deleted for ever is deleted with it.
    tombstoned: (head.tombstonePosition ?? original?.tombstonePosition) !== undefined,
    softDeleted: metadata?.content !== undefined && isSoftDeleted(metadata.content.parsed),
    hasMetadata: metadata !== undefined && metadata.lastRevision >= 0,
    storedIdAt: (revision) => writer.heads.eventIdAt(head, revision),
    recentRevisionOf: (eventId) => writer.heads.recentRevisionOf(head, eventId),
  };
}

/** Answers at once when the decision rests on durable events only, else when they are durable. */
function answer<Outcome>(writer: Writer, head: Head, outcome: Outcome): Promise<Outcome> {
  const other = metadataHeadOf(writer, head) ?? originalHeadOf(writer, head);
  const settled = head.undurable.length === 0 && (other?.undurable.length ?? 0) === 0;
  return settled ? Promise.resolve(outcome) : submit(writer, newDraft(), outcome);
}

function submit<Outcome>(writer: Writer, draft: Draft, outcome: Outcome): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      if (error === undefined) resolve(outcome);
      else reject(new StoreUnavailableError(`the commit failed: ${error.message}`));
    };
    writer.queue.enqueue(writer.drafter.finish(draft, settle));
  });
}

function refusalOf(decision: CommitDecision, head: Head): Refusal {
  if (decision.kind === 'deleted') return { kind: 'deleted' };
  return { kind: 'wrong-revision', lastRevision: head.lastRevision };
}

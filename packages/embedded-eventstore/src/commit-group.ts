/**
 * Group commit: while one transaction is being synced to disk, everything that arrives waits and
 * then goes into the next one together. Answers are given in order, and only after the sync.
 */

import type { CommitEntry } from './entry.ts';
import { limits } from './limits.ts';
import type { CommitBatch, Counters, StreamRow } from './storage.ts';

/** One decided append. It has no entries when only its answer must wait for those before it. */
export interface PendingWrite {
  readonly entries: readonly CommitEntry[];
  readonly bytes: number;
  readonly streams: ReadonlyMap<string, StreamRow>;
  readonly counters: Counters;
  /** Called once: without an error when the write and all before it are on disk. */
  settle(error?: Error): void;
}

/** The options of a commit queue. */
export interface CommitQueueOptions {
  commit(batch: CommitBatch): Promise<void>;
  /** Called after each group is on disk and before its writers are answered. */
  onDurable(batch: CommitBatch): void;
  /** Called once, when a commit fails; nothing is committed afterwards. */
  onFailure(error: Error): void;
}

/** Writes appends in groups, one transaction for each group. */
export interface CommitQueue {
  enqueue(write: PendingWrite): void;
  /** Bytes that are decided but not on disk. */
  undurableBytes(): number;
  /** Resolves when everything queued so far is settled. */
  idle(): Promise<void>;
}

/** Creates the queue in front of one storage. */
export function createCommitQueue(options: CommitQueueOptions): CommitQueue {
  let waiting: PendingWrite[] = [];
  let bytes = 0;
  let running: Promise<void> | undefined;
  let failure: Error | undefined;

  const run = async (): Promise<void> => {
    // One turn of the event loop lets everything that has already arrived join the first group.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0 && failure === undefined) await commitNext();
    running = undefined;
  };

  const commitNext = async (): Promise<void> => {
    const group = takeGroup(waiting);
    waiting = waiting.slice(group.length);
    const batch = mergeGroup(group);
    try {
      if (batch.entries.length > 0) {
        await options.commit(batch);
        options.onDurable(batch);
      }
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)), group);
      return;
    }
    for (const write of group) {
      bytes -= write.bytes;
      write.settle();
    }
  };

  const fail = (error: Error, group: readonly PendingWrite[]): void => {
    failure = error;
    const lost = [...group, ...waiting];
    waiting = [];
    bytes = 0;
    for (const write of lost) write.settle(error);
    options.onFailure(error);
  };

  return {
    enqueue: (write) => {
      if (failure !== undefined) {
        write.settle(failure);
        return;
      }
      waiting.push(write);
      bytes += write.bytes;
      running ??= run();
    },
    undurableBytes: () => bytes,
    idle: async () => {
      while (running !== undefined) await running;
    },
  };
}

function takeGroup(waiting: readonly PendingWrite[]): readonly PendingWrite[] {
  let bytes = 0;
  let events = 0;
  let count = 0;
  for (const write of waiting) {
    bytes += write.bytes;
    events += write.entries.length;
    if (count > 0 && (bytes > limits.groupBytes || events > limits.groupEvents)) break;
    count += 1;
  }
  return count === waiting.length ? waiting : waiting.slice(0, count);
}

function mergeGroup(group: readonly PendingWrite[]): CommitBatch {
  const entries: CommitEntry[] = [];
  const streams = new Map<string, StreamRow>();
  let counters: Counters = { nextPosition: 0, nextStreamId: 0 };
  for (const write of group) {
    for (const entry of write.entries) entries.push(entry);
    for (const [name, row] of write.streams) streams.set(name, row);
    counters = write.counters;
  }
  return { entries, streams, counters };
}

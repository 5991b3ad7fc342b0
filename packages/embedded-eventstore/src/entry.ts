/** Records with their places, as they are written and read. */

/** A record of the log at its position. */
export interface LogEntry {
  readonly position: number;
  readonly record: Buffer;
}

/** A record of a stream. */
export interface StreamEntry extends LogEntry {
  readonly revision: number;
}

/** One event of a commit; a tombstone has no revision and is not in the stream's index. */
export interface CommitEntry extends LogEntry {
  readonly streamId: number;
  readonly revision?: number;
}

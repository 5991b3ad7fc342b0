/**
 * The decision about an append with an expected revision: write it, recognise it as
 * already written, or refuse it. This is the rule that makes retries safe, so it is pure and its
 * test is a table.
 */

/** The writer's expectation of the stream; a bigint is the exact revision of its last event. */
export type ExpectedRevision = 'any' | 'no_stream' | 'stream_exists' | bigint;

/** A stream as the check sees it, including appends that are decided but not yet on disk. */
export interface StreamView {
  /** Revision of the last event, or -1 when the stream has none. */
  readonly lastRevision: number;
  readonly tombstoned: boolean;
  readonly softDeleted: boolean;
  /** True when the stream's metadata stream has events. */
  readonly hasMetadata: boolean;
  /** The id of the event at a revision. */
  storedIdAt(revision: number): string | undefined;
  /** The revision of a recently written event with this id; forgetting old ones is allowed. */
  recentRevisionOf(eventId: string): number | undefined;
}

/** The answer of the commit check to an append. */
export type CommitDecision =
  | { readonly kind: 'write' }
  | { readonly kind: 'idempotent'; readonly lastRevision: number }
  | { readonly kind: 'wrong-revision' }
  | { readonly kind: 'deleted' };

const WRITE: CommitDecision = { kind: 'write' };
const WRONG: CommitDecision = { kind: 'wrong-revision' };
const DELETED: CommitDecision = { kind: 'deleted' };

/** Applies the rules in the order of the real server. `eventIds` are lower-case UUIDs. */
export function checkCommit(
  stream: StreamView,
  expected: ExpectedRevision,
  eventIds: readonly string[],
): CommitDecision {
  if (stream.tombstoned) return DELETED;
  if (stream.lastRevision < 0) return checkNeverWritten(stream, expected);
  if (expected === 'stream_exists' && stream.softDeleted) return DELETED;
  if (expected === 'any' || expected === 'stream_exists') return checkByIds(stream, eventIds);

  const expectedLast = expected === 'no_stream' ? -1 : Number(expected);
  if (expectedLast > stream.lastRevision) return WRONG;
  // An exact match is written without looking for duplicates, as in the real server.
  if (expectedLast === stream.lastRevision) return WRITE;
  return checkStoredEvents(stream, expectedLast, eventIds);
}

function checkNeverWritten(stream: StreamView, expected: ExpectedRevision): CommitDecision {
  if (expected === 'any' || expected === 'no_stream') return WRITE;
  if (expected === 'stream_exists' && stream.hasMetadata) return WRITE;
  return WRONG;
}

function checkByIds(stream: StreamView, eventIds: readonly string[]): CommitDecision {
  let lastRevision: number | undefined;
  for (const [index, eventId] of eventIds.entries()) {
    const revision = stream.recentRevisionOf(eventId);
    if (revision === undefined) return index === 0 ? WRITE : WRONG;
    lastRevision = revision;
  }
  return lastRevision === undefined ? WRITE : { kind: 'idempotent', lastRevision };
}

function checkStoredEvents(
  stream: StreamView,
  expectedLast: number,
  eventIds: readonly string[],
): CommitDecision {
  for (const [index, eventId] of eventIds.entries()) {
    if (stream.storedIdAt(expectedLast + 1 + index) === eventId) continue;
    // A stream that was soft-deleted may be started again as if it had never existed.
    return index === 0 && expectedLast === -1 && stream.softDeleted ? WRITE : WRONG;
  }
  if (eventIds.length === 0) return WRONG;
  return { kind: 'idempotent', lastRevision: expectedLast + eventIds.length };
}

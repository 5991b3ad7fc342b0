import type { StreamState as NatsStreamState } from 'nats';
import type { Position } from '../log/types.ts';
import { type JetStreamRequests, messagePlace, streamInfoOf } from '../nats/nats-tail.ts';

/** The sequence at which the messages about events after a position begin. */
export interface StreamPlace {
  /** Sequence of the first of them; one beyond the last message when there is none yet. */
  readonly sequence: number;
  /** True when messages between the position and that sequence may have been dropped by age. */
  readonly isIncomplete: boolean;
  /** Position of the oldest message that is kept; null in an empty stream. */
  readonly oldest: Position | null;
}

/**
 * Finds the first message about an event after a position, null meaning the oldest that is kept.
 * Positions rise with sequences, so some twenty messages are looked at per million.
 */
export async function sequenceAfter(
  requests: JetStreamRequests,
  position: Position | null,
): Promise<StreamPlace> {
  const { first_seq: first, last_seq: last } = await stateOf(requests);
  // A stream that never had a message says that its first one is 0, which no message ever is.
  const from = Math.max(first, 1);
  const sequence = position === null ? from : await firstAfter(requests, position, from, last + 1);
  // Only now: a message that was dropped during the search counts as well.
  const oldest = await oldestMessage(requests);
  // No message is left that could be passed over. Missing ones show when the next message is there.
  if (oldest.position === null) {
    return { sequence: oldest.sequence, isIncomplete: false, oldest: null };
  }
  const isIncomplete = position !== null && oldest.sequence > 1 && position < oldest.position;
  const isFirst = position === null;
  return { sequence: isFirst ? oldest.sequence : sequence, isIncomplete, oldest: oldest.position };
}

/** Sequence of the oldest message that is kept; one beyond the last when there is none. */
export const firstKept = async (requests: JetStreamRequests): Promise<number> =>
  (await stateOf(requests)).first_seq;

const stateOf = async (requests: JetStreamRequests): Promise<NatsStreamState> =>
  (await streamInfoOf(requests)).state;

/** The number of times that the oldest message may be dropped while it is being read. */
const oldestTries = 20;

/** The oldest message that is kept; its position is null in an empty stream. */
async function oldestMessage(
  requests: JetStreamRequests,
): Promise<{ readonly sequence: number; readonly position: Position | null }> {
  for (let attempt = 0; attempt < oldestTries; attempt += 1) {
    const { first_seq: first, last_seq: last, messages } = await stateOf(requests);
    if (messages === 0) return { sequence: last + 1, position: null };
    const found = await messagePlace(requests, first);
    if (found) return { sequence: first, position: found.position };
  }
  throw new Error('the oldest messages of the public stream are dropped faster than they are read');
}

/** The smallest sequence in [low, high) whose message is after the position; high when none is. */
async function firstAfter(
  requests: JetStreamRequests,
  position: Position,
  from: number,
  to: number,
): Promise<number> {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = await messagePlace(requests, middle);
    // A message that has aged out meanwhile was the oldest, so the wanted one comes after it.
    if (!found || found.position <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}

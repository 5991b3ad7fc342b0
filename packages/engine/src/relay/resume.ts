import type { Position } from '../log/types.ts';
import type { Tail } from '../nats/nats-tail.ts';
import type { MessagePlace } from './public-message.ts';

/** A place in the log and in the public stream at once: so far both have been brought together. */
export interface Place {
  /** Sequence of the last message in the public stream. */
  readonly sequence: number;
  /** Position of the event that this message is about. */
  readonly position: Position;
  /** The place of this message among those of its event, from 0. */
  readonly index: number;
  /** True for the last message of its event. */
  readonly complete: boolean;
}

/**
 * The progress that is kept outside the stream, for the case that the stream has no message left.
 */
export interface Checkpoint {
  /** Identity of the stream that the sequence counts in. */
  readonly stream: string;
  readonly sequence: number;
  /** All messages about events up to this position have sequences up to that one. */
  readonly position: Position;
}

/** The damage to the stream since the checkpoint was saved. */
export type StreamDamage =
  /** The stream's last messages are gone, as after a power failure. */
  | 'torn_tail'
  /** It is another stream than the one of the checkpoint. */
  | 'recreated';

export interface Resumption {
  /** The place in the log to go on from. */
  readonly from: Place;
  /**
   * The number of messages after `from` that the stream has had already. They are counted off and
   * not sent again: the messages follow from the log, so the nth is always the same.
   */
  readonly skip: number;
  readonly damage: StreamDamage | null;
}

/** Before the first event and the first message. */
export const logStart: Place = { sequence: 0, position: 0n, index: 0, complete: true };

/**
 * Returns where to go on. The stream's own last message decides. A new stream is filled from the
 * start of the log, which gives every message the sequence it had before, so that readers keep
 * their place. Only a stream that has aged out to the last message needs the checkpoint.
 */
export function resumption(tail: Tail, checkpoint: Checkpoint | null): Resumption {
  const known = checkpoint?.stream === tail.identity ? checkpoint : null;
  const damage = damageOf(tail, checkpoint);
  if (tail.last || tail.sequence === 0)
    return { from: placeOf(tail.sequence, tail.last), skip: 0, damage };
  const from =
    known && known.sequence <= tail.sequence
      ? { ...logStart, sequence: known.sequence, position: known.position }
      : logStart;
  return { from, skip: tail.sequence - from.sequence, damage };
}

function damageOf(tail: Tail, checkpoint: Checkpoint | null): StreamDamage | null {
  if (!checkpoint) return null;
  if (checkpoint.stream !== tail.identity) return 'recreated';
  return checkpoint.sequence > tail.sequence ? 'torn_tail' : null;
}

/** The place of a message of the stream, which is the last one so far; the start of the log without one. */
export function placeOf(
  sequence: number,
  message: Pick<MessagePlace, 'position' | 'index' | 'count'> | null | undefined,
): Place {
  if (!message) return logStart;
  const { position, index, count } = message;
  return { sequence, position, index, complete: index + 1 >= count };
}

/** Tells whether a message belongs behind a place of the public stream. */
export const isAfter = (
  message: { readonly position: Position; readonly index: number },
  place: Place,
): boolean =>
  message.position > place.position ||
  (message.position === place.position && !place.complete && message.index > place.index);

import { type BackOff, sleep } from '../consume/run-forever.ts';
import { UnreadableEvent } from './incoming-event.ts';
import {
  ConsumerTooSlow,
  type LogItem,
  type Position,
  type StoredEvent,
  StoreUnavailable,
} from './types.ts';

export interface FollowOptions {
  /** One subscription: the items after a position, until it is lost. */
  readonly connect: (after: Position) => AsyncIterable<readonly LogItem[]>;
  readonly after: () => Position | Promise<Position>;
  readonly signal: AbortSignal;
  readonly backOff: BackOff;
  /** Called at each loss. */
  readonly onLost: (error: Error) => void;
}

/**
 * One subscription after the other, for ever, each from the place where the consumer then is. An error,
 * an orderly end and a closed stream are all the same: a loss. Items that had arrived before a loss are
 * handed over before `after` is asked again, so that nothing is lost or comes twice as long as `after`
 * answers with the position of the last item of the last batch.
 *
 * A subscription that was of use and that the store ended because too much came at once is no loss: it is
 * opened again without a word and without waiting.
 *
 * Ends when the signal aborts. Throws `UnreadableEvent` when the log holds an event that must not be
 * skipped; after every other error, one of `after` included, it waits and tries again.
 */
export async function* followLog(
  options: FollowOptions,
): AsyncGenerator<readonly LogItem[], void, undefined> {
  const { connect, after, signal, backOff, onLost } = options;
  while (!signal.aborted) {
    let wasOfUse = false;
    let loss: Error = new StoreUnavailable('the event store ended the subscription');
    try {
      for await (const batch of connect(await after())) {
        backOff.reset();
        wasOfUse = true;
        yield batch;
      }
    } catch (error) {
      if (error instanceof UnreadableEvent) throw error;
      if (error instanceof ConsumerTooSlow && wasOfUse) continue;
      loss = error instanceof Error ? error : new Error(String(error));
    }
    if (signal.aborted) return;
    onLost(loss);
    await sleep(backOff.next(), signal);
  }
}

/**
 * Lets each position through once and in order. Items that the consumer already has are dropped. An
 * event that lies before one that was handed over means that the log itself is broken, and throws
 * `UnreadableEvent`.
 */
export function createOrderCheck(after: Position): (item: LogItem) => LogItem | null {
  let last = after;
  let started = false;
  return (item) => {
    if (item.kind === 'caught_up') return item;
    const { position } = item.kind === 'event' ? item.event : item;
    if (position > last) {
      last = position;
      started = true;
      return item;
    }
    if (item.kind === 'checkpoint' || !started) return null;
    const { stream, revision } = item.event;
    throw new UnreadableEvent(stream, revision, `position ${position} comes after ${last}`);
  };
}

/** The events among items of the log. */
export const eventsOf = (items: readonly LogItem[]): readonly StoredEvent[] =>
  items.flatMap((item) => (item.kind === 'event' ? [item.event] : []));

/** The position that items of the log reach; null when they hold none. */
export function positionAfter(items: readonly LogItem[]): Position | null {
  const last = items.findLast((item) => item.kind !== 'caught_up');
  if (!last) return null;
  return last.kind === 'event' ? last.event.position : last.position;
}

/** Tells whether items of the log say that everything that was there has been handed over. */
export const isCaughtUp = (items: readonly LogItem[]): boolean =>
  items.some(({ kind }) => kind === 'caught_up');

import { orIdle } from '../consume/or-idle.ts';
import { positionAfter } from '../log/follow.ts';
import type { LogItem, StoredEvent } from '../log/types.ts';

/**
 * The time between two batches that bring nothing but a place, such as one among the events of others. To note a place
 * costs a transaction, which would come with every few events of others.
 */
const restMilliseconds = 100;
/** The last place is told after a rest without news; from then on nobody is waited for. */
const idle = { firstMilliseconds: restMilliseconds, lastMilliseconds: 60_000 };

interface Options {
  /** Tells of events that they are no more than a place, when the batch with them is next. */
  readonly passesBy?: (event: StoredEvent) => boolean;
  /** The means of waiting, for tests. */
  readonly idling?: typeof orIdle<readonly LogItem[]>;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/**
 * Batches of the log as they come, but for those with nothing but a place: of these the last one comes, a rest after the
 * batch before it. Whatever else there is, is handed on at once.
 */
export async function* withSeldomPlaces(
  batches: AsyncIterable<readonly LogItem[]>,
  { passesBy = () => false, idling = orIdle, now = () => performance.now() }: Options = {},
): AsyncGenerator<readonly LogItem[]> {
  let held: readonly LogItem[] = [];
  let handedOnAt = Number.NEGATIVE_INFINITY;
  for await (const batch of idling(batches, idle)) {
    const items = together(held, withPlaces(batch ?? [], passesBy));
    const isEarly = batch !== null && now() - handedOnAt < restMilliseconds;
    held = isPlace(items) && isEarly ? items : [];
    if (items.length === 0 || items === held) continue;
    yield items;
    handedOnAt = now();
  }
}

/** Items in which a place stands for events that pass by, one for those that follow each other. */
function withPlaces(
  items: readonly LogItem[],
  passesBy: (event: StoredEvent) => boolean,
): readonly LogItem[] {
  const placed = items.map(
    (item): LogItem =>
      item.kind === 'event' && passesBy(item.event)
        ? { kind: 'checkpoint', position: item.event.position }
        : item,
  );
  return placed.filter(
    ({ kind }, index) => kind !== 'checkpoint' || placed[index + 1]?.kind !== 'checkpoint',
  );
}

const isPlace = (items: readonly LogItem[]): boolean =>
  items.every(({ kind }) => kind === 'checkpoint');

/** After a loss of the subscription, places come again that lie before the held one. */
function together(held: readonly LogItem[], batch: readonly LogItem[]): readonly LogItem[] {
  if (held.length === 0) return batch;
  if (!isPlace(batch)) return [...held, ...batch];
  return (positionAfter(batch) ?? 0n) > (positionAfter(held) ?? 0n) ? batch : held;
}

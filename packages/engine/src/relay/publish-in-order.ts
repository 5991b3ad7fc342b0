import { type BackOff, createBackOff, sleep } from '../consume/run-forever.ts';
import type { Publisher, PublishFault } from '../nats/nats-publisher.ts';
import type { Tail } from '../nats/nats-tail.ts';
import type { OutgoingMessage } from './message.ts';
import { isAfter, type Place, placeOf } from './resume.ts';

/** The stream ends before the place where this relay had brought it to: start over from there. */
export class StreamWentBack extends Error {
  override readonly name = 'StreamWentBack';
}

/** The broker does not take a message, time after time. */
export class PublishRefused extends Error {
  override readonly name = 'PublishRefused';
}

export interface InOrderOptions {
  readonly publisher: Publisher;
  readonly readTail: () => Promise<Tail>;
  readonly signal: AbortSignal;
  /** Waits after faults; 10 ms to 1 s unless given. */
  readonly backOff?: BackOff;
  /** Told when the stream's end has moved on, by this relay or by another. */
  readonly onPlace: (place: Place, published: number) => void;
  /** Told about each fault that made the relay look at the stream's end again. */
  readonly onResync: (fault: PublishFault, detail: string) => void;
}

/** Faults in a row, with nothing stored between them, after which it is given up for now. */
const fruitlessMaximum = 8;

/**
 * Brings messages behind a place of the stream, as far as they are not there yet. After any fault
 * the stream's own end says what is still missing, so neither a lost answer nor another relay can
 * lead to a gap or a second copy.
 *
 * Returns the place after the last message. Throws `StreamWentBack` when the stream is shorter than
 * `place` says, and `PublishRefused` when it makes no progress.
 */
export async function publishInOrder(
  messages: readonly OutgoingMessage[],
  start: Place,
  options: InOrderOptions,
): Promise<Place> {
  const { publisher, readTail, signal, onPlace, onResync } = options;
  const { backOff = createBackOff({ firstMilliseconds: 10, lastMilliseconds: 1_000 }) } = options;
  let place = start;
  let fruitless = 0;
  for (;;) {
    const missing = messages.filter((message) => isAfter(message, place));
    if (missing.length === 0) return place;
    const outcome = await publisher.publish(missing, place.sequence);
    const { acknowledged } = outcome;
    if (acknowledged > 0) {
      place = placeOf(place.sequence + acknowledged, missing[acknowledged - 1]);
      onPlace(place, acknowledged);
    }
    if (outcome.fault === null) return place;
    signal.throwIfAborted();
    onResync(outcome.fault, outcome.detail);
    const tail = checkedTail(await readTail(), place);
    const progressed = acknowledged > 0 || tail.sequence > place.sequence;
    if (tail.sequence > place.sequence) onPlace(tail, 0);
    place = tail;
    fruitless = progressed ? 0 : fruitless + 1;
    if (fruitless >= fruitlessMaximum) throw new PublishRefused(outcome.detail);
    if (progressed) backOff.reset();
    await sleep(backOff.next(), signal);
    signal.throwIfAborted();
  }
}

/**
 * The stream's end as a place; throws when it is before a message that is known to have been
 * stored.
 */
function checkedTail(tail: Tail, known: Place): Place {
  const place = placeOf(tail.sequence, tail.last);
  const lost = tail.sequence < known.sequence || (!tail.last && tail.sequence > 0);
  if (!lost && !isAfter(known, place)) return place;
  throw new StreamWentBack(
    `the stream ends with ${tail.sequence} where ${known.sequence} had been stored`,
  );
}

import type { AnyFactTables } from '../define/intake.ts';
import { parseStreamName } from '../log/stream-name.ts';
import type { StoredEvent } from '../log/types.ts';
import { factsOf } from './fact-event.ts';

/** Facts and records that are written together, more only where one event holds more: until then they take memory. */
export const writtenTogether = 16_000;

/** Tells how much an event of the log brings to some tables of facts: its facts, or one record. */
export const weigherOf =
  ({ intake }: AnyFactTables) =>
  (event: StoredEvent): number =>
    parseStreamName(event.stream)?.category === intake.name ? factsOf(event).length : 1;

/** Things in portions, each of which ends as soon as it weighs so much, in their order and without an empty one. */
export function* portionsOf<Thing>(
  things: readonly Thing[],
  weigh: (thing: Thing) => number,
  maximum: number,
): Generator<readonly Thing[]> {
  let portion: Thing[] = [];
  let weight = 0;
  for (const thing of things) {
    portion.push(thing);
    weight += weigh(thing);
    if (weight < maximum) continue;
    yield portion;
    [portion, weight] = [[], 0];
  }
  if (portion.length > 0) yield portion;
}

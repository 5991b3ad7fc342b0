import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sampleEvent } from '../log/sample-events.ts';
import type { LogItem, StoredEvent } from '../log/types.ts';
import { withSeldomPlaces } from './seldom-places.ts';

const test = suite('places of facts');

const place = (position: number): LogItem => ({ kind: 'checkpoint', position: BigInt(position) });
const event = (position: number): LogItem => ({
  kind: 'event',
  event: { ...sampleEvent(), position: BigInt(position) } as unknown as StoredEvent,
});
const level: LogItem = { kind: 'caught_up' };

/** A batch, or null where none comes for a while, and the milliseconds from the start. */
type Arrival = readonly [batch: readonly LogItem[] | null, at: number];

/** The batches that are handed on, when others take no time. */
async function handedOn(
  arrivals: readonly Arrival[],
  passesBy?: (event: StoredEvent) => boolean,
): Promise<readonly (readonly LogItem[])[]> {
  let at = 0;
  async function* idling(): AsyncGenerator<readonly LogItem[] | null> {
    for (const [batch, arrivedAt] of arrivals) {
      at = arrivedAt;
      yield batch;
    }
  }
  const taken: (readonly LogItem[])[] = [];
  const none = (async function* (): AsyncGenerator<readonly LogItem[]> {})();
  const options = { idling, now: () => at, ...(passesBy && { passesBy }) };
  for await (const items of withSeldomPlaces(none, options)) taken.push(items);
  return taken;
}

const [first, second] = [event(5), event(40)];

for (const [name, arrivals, expected] of [
  ['the first place is told at once', [[[place(1)], 0]], [[place(1)]]],
  [
    'places soon after another are told together, by the last of them',
    [
      [[place(1)], 0],
      [[place(2)], 10],
      [[place(3)], 99],
      [[place(4)], 100],
    ],
    [[place(1)], [place(4)]],
  ],
  [
    'the last place is told when nothing more comes, once',
    [
      [[place(1)], 0],
      [[place(2)], 10],
      [null, 20],
      [null, 30],
    ],
    [[place(1)], [place(2)]],
  ],
  [
    'events are handed on at once, and the place before them with them',
    [
      [[first], 0],
      [[place(30)], 1],
      [[second], 2],
    ],
    [[first], [place(30), second]],
  ],
  [
    'that all has come is handed on at once, and the held place is not forgotten',
    [
      [[first], 0],
      [[place(30)], 1],
      [[level], 2],
    ],
    [[first], [place(30), level]],
  ],
  [
    'a place that comes again after a loss does not lead back',
    [
      [[first], 0],
      [[place(30)], 1],
      [[place(20)], 2],
      [null, 3],
    ],
    [[first], [place(30)]],
  ],
] as readonly (readonly [string, readonly Arrival[], readonly (readonly LogItem[])[]])[]) {
  test(name, async () => {
    assert.equal(await handedOn(arrivals), expected);
  });
}

test('events that pass by are places, and those between others are none of their own', async () => {
  const passing = new Set([20n, 21n, 22n, 50n, 51n]);
  const taken = await handedOn(
    [
      [[first, event(20), event(21)], 0],
      [[event(22)], 1],
      [[second, event(50), level], 2],
      [[event(51)], 150],
    ],
    ({ position }) => passing.has(position),
  );
  assert.equal(taken, [[first, place(21)], [place(22), second, place(50), level], [place(51)]]);
});

test('whether an event passes by is asked when what came before it has been taken', async () => {
  let isWatched = false;
  const arrivals: readonly (readonly LogItem[])[] = [[first], [second]];
  async function* idling(): AsyncGenerator<readonly LogItem[] | null> {
    yield* arrivals;
  }
  const none = (async function* (): AsyncGenerator<readonly LogItem[]> {})();
  const taken: (readonly LogItem[])[] = [];
  for await (const items of withSeldomPlaces(none, { idling, passesBy: () => !isWatched })) {
    taken.push(items);
    isWatched = true;
  }
  assert.equal(taken, [[place(5)], [second]]);
});

test.run();

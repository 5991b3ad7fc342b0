import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Instant, instantOf } from './instant.ts';
import { nextWindow, type WindowSize, windowSizes, windowStart } from './window.ts';

const test = suite('windows');

const berlin = 'Europe/Berlin';
const lordHowe = 'Australia/Lord_Howe';

const starts: readonly [WindowSize, string, string, string, string?][] = [
  ['MINUTE', 'UTC', '2026-01-01T10:07:31.250Z', '2026-01-01T10:07:00.000Z'],
  ['15MIN', 'UTC', '2026-01-01T10:44:59.999Z', '2026-01-01T10:30:00.000Z'],
  ['HOUR', 'Asia/Kolkata', '2026-01-01T10:44:00.000Z', '2026-01-01T10:30:00.000Z'],
  ['3HOUR', berlin, '2026-01-01T10:44:00.000Z', '2026-01-01T08:00:00.000Z'],
  ['DAY', berlin, '2026-07-01T22:30:00.000Z', '2026-07-01T22:00:00.000Z'],
  ['WEEK', 'UTC', '2026-11-22T23:59:59.999Z', '2026-11-16T00:00:00.000Z'],
  ['WEEK', 'UTC', '2026-11-23T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
  ['MONTH', berlin, '2026-02-28T23:30:00.000Z', '2026-02-28T23:00:00.000Z'],
  [
    'MONTH',
    'UTC',
    '2026-02-15T00:00:00.000Z',
    '2026-01-31T00:00:00.000Z',
    '2025-12-31T00:00:00.000Z',
  ],
  [
    'MONTH',
    'UTC',
    '2026-03-01T00:00:00.000Z',
    '2026-02-28T00:00:00.000Z',
    '2025-12-31T00:00:00.000Z',
  ],
  // The clock goes ahead from 2 to 3, so this window has two hours.
  ['3HOUR', berlin, '2026-03-29T00:59:59.999Z', '2026-03-28T23:00:00.000Z'],
  ['3HOUR', berlin, '2026-03-29T01:00:00.000Z', '2026-03-29T01:00:00.000Z'],
  // The clock goes back from 3 to 2, so this one has four, and the hour that comes twice is two windows.
  ['3HOUR', berlin, '2026-10-25T01:30:00.000Z', '2026-10-24T22:00:00.000Z'],
  ['HOUR', berlin, '2026-10-25T00:30:00.000Z', '2026-10-25T00:00:00.000Z'],
  ['HOUR', berlin, '2026-10-25T01:30:00.000Z', '2026-10-25T01:00:00.000Z'],
  // This clock goes ahead from 2 to 2:30 and back from 2 to 1:30: windows of half an hour begin there.
  ['HOUR', lordHowe, '2026-10-03T15:29:59.999Z', '2026-10-03T14:30:00.000Z'],
  ['HOUR', lordHowe, '2026-10-03T15:30:00.000Z', '2026-10-03T15:30:00.000Z'],
  ['HOUR', lordHowe, '2026-10-03T15:59:59.999Z', '2026-10-03T15:30:00.000Z'],
  ['HOUR', lordHowe, '2026-10-03T16:00:00.000Z', '2026-10-03T16:00:00.000Z'],
  ['HOUR', lordHowe, '2026-04-04T14:59:59.999Z', '2026-04-04T14:00:00.000Z'],
  ['HOUR', lordHowe, '2026-04-04T15:00:00.000Z', '2026-04-04T15:00:00.000Z'],
  ['HOUR', lordHowe, '2026-04-04T15:29:59.999Z', '2026-04-04T15:00:00.000Z'],
  ['HOUR', lordHowe, '2026-04-04T15:30:00.000Z', '2026-04-04T15:30:00.000Z'],
  ['30MIN', lordHowe, '2026-04-04T15:15:00.000Z', '2026-04-04T15:00:00.000Z'],
  // This one moved within an hour, from 23:30 to midnight.
  ['HOUR', 'Asia/Pyongyang', '2018-05-04T14:59:00.000Z', '2018-05-04T14:30:00.000Z'],
  ['HOUR', 'Asia/Pyongyang', '2018-05-04T15:00:00.000Z', '2018-05-04T15:00:00.000Z'],
];

for (const [size, zone, at, start, anchor] of starts) {
  test(`the ${size} of ${at} in ${zone} begins at ${start}`, () => {
    const rhythm = { size, zone, anchor: anchor as Instant | undefined };
    assert.is(windowStart(rhythm, at as Instant), start);
  });
}

const zones = [
  ...['UTC', berlin, 'Asia/Kolkata', 'America/New_York', 'Pacific/Auckland'],
  ...[lordHowe, 'Asia/Pyongyang'],
];

/** Any, and those about which clocks move by half an hour. */
const instants = fc.oneof(
  fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2028, 0) }),
  fc
    .tuple(
      fc.constantFrom(
        '2026-10-03T15:30Z',
        '2026-04-04T15:00Z',
        '2018-05-04T15:00Z',
        '2015-08-14T15:00Z',
      ),
      fc.integer({ min: -90 * 60_000, max: 90 * 60_000 }),
    )
    .map(([move, after]) => Date.parse(move) + after),
);

test('windows follow one another without a gap, and each instant lies in the one that is said', () =>
  fc.assert(
    fc.property(
      fc.constantFrom(...windowSizes),
      fc.constantFrom(...zones),
      instants,
      fc.option(fc.integer({ min: 1, max: 31 }), { nil: undefined }),
      (size, zone, milliseconds, day) => {
        const anchor = day === undefined ? undefined : instantOf(Date.UTC(2024, 0, day, 5, 30));
        const rhythm = { size, zone, anchor };
        const at = instantOf(milliseconds);
        const start = windowStart(rhythm, at);
        const next = nextWindow(rhythm, start);
        assert.ok(start <= at && at < next, `${start} <= ${at} < ${next}`);
        assert.is(windowStart(rhythm, start), start);
        assert.is(windowStart(rhythm, next), next);
        assert.is(windowStart(rhythm, instantOf(Date.parse(next) - 1)), start);
      },
    ),
    { numRuns: 2_000 },
  ));

test('windows stay in the years that can be written', () => {
  const first = '0001-01-01T00:00:00.000Z' as Instant;
  const last = '9999-12-31T23:59:59.999Z' as Instant;
  for (const size of windowSizes) {
    for (const zone of ['UTC', 'Asia/Kolkata', 'America/New_York']) {
      assert.ok(windowStart({ size, zone }, first) >= first);
      assert.is(nextWindow({ size, zone }, windowStart({ size, zone }, last)), last);
    }
  }
});

test.run();

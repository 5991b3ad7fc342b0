import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Instant, instantOf, millisecondsOf } from './instant.ts';
import {
  type Cadence,
  calendarAnchor,
  type PeriodUnit,
  periodAt,
  periodBoundary,
  periodUnits,
} from './period.ts';

const test = suite('periods');

/** The instant of a text, which may be a day alone. */
const at = (text: string): Instant => instantOf(Date.parse(text));

/** Start, anchor, period, zone, and the boundaries after the start. */
const examples = `
the day comes from the anchor      | 2024-01-31 | 2024-01-31 | 1 MONTHLY | UTC | 2024-02-29 2024-03-31 2024-04-30 2024-05-31
a short first period               | 2024-04-01 | 2024-04-14 | 2 MONTHLY | UTC | 2024-04-14 2024-06-14 2024-08-14
a whole first period               | 2024-04-14 | 2024-04-14 | 2 MONTHLY | UTC | 2024-06-14 2024-08-14
calendar months, two at a time     | 2024-01-15 | 2024-02-01 | 2 MONTHLY | UTC | 2024-02-01 2024-04-01
an anchor long before the start    | 2024-03-10 | 2020-01-31 | 1 MONTHLY | UTC | 2024-03-31 2024-04-30
calendar quarters                  | 2024-03-22 | 2024-04-01 | 1 QUARTERLY | UTC | 2024-04-01 2024-07-01 2024-10-01 2025-01-01
quarters from the start            | 2024-03-22 | 2024-03-22 | 1 QUARTERLY | UTC | 2024-06-22 2024-09-22
calendar half-years                | 2024-10-05 | 2025-01-01 | 1 HALF_YEARLY | UTC | 2025-01-01 2025-07-01
half-years keep a 31st             | 2024-08-31 | 2024-08-31 | 1 HALF_YEARLY | UTC | 2025-02-28 2025-08-31
years keep 29 February             | 2024-02-29 | 2024-02-29 | 1 ANNUAL | UTC | 2025-02-28 2026-02-28 2027-02-28 2028-02-29
an anchor later in the same year   | 2024-01-15 | 2024-06-15 | 1 ANNUAL | UTC | 2024-06-15 2025-06-15
a Sunday before an anchor Thursday | 2024-01-07 | 2024-01-04 | 3 WEEKLY | UTC | 2024-01-11 2024-02-01
the same weekday                   | 2024-01-04 | 2024-01-04 | 1 WEEKLY | UTC | 2024-01-11 2024-01-18
the clock time of the anchor       | 2024-01-01T09:30:00Z | 2024-01-01T12:00:00Z | 2 DAILY | UTC | 2024-01-03T12:00:00Z 2024-01-05T12:00:00Z
summer time in New York            | 2024-02-01T05:00:00Z | 2024-02-01T05:00:00Z | 1 MONTHLY | America/New_York | 2024-03-01T05:00:00Z 2024-04-01T04:00:00Z
a clock time that a day lacks      | 2024-03-09T07:30:00Z | 2024-03-09T07:30:00Z | 1 DAILY | America/New_York | 2024-03-10T07:30:00Z 2024-03-11T06:30:00Z
a clock time that a day has twice  | 2024-11-02T05:30:00Z | 2024-11-02T05:30:00Z | 1 DAILY | America/New_York | 2024-11-03T05:30:00Z 2024-11-04T06:30:00Z
`;

for (const line of examples.trim().split('\n')) {
  const [name, start = '', anchor = '', period = '', zone = '', boundaries = ''] = line
    .split('|')
    .map((part) => part.trim());
  const [count, unit] = period.split(' ');
  test(`${name}: ${period} from ${start}`, () => {
    const cadence: Cadence = {
      anchor: at(anchor),
      unit: unit as PeriodUnit,
      count: Number(count),
      zone,
    };
    const expected = boundaries.split(' ').map(at);
    const found = expected.map((_, index) => periodBoundary(cadence, at(start), index + 1));
    assert.equal(found, expected);
    assert.is(periodBoundary(cadence, at(start), 0), at(start));
  });
}

for (const [start, unit, zone, anchor] of [
  ['2024-02-15T18:30:00.000Z', 'MONTHLY', 'Asia/Kolkata', '2024-02-29T18:30:00.000Z'],
  ['2024-04-01', 'QUARTERLY', 'UTC', '2024-07-01'],
  ['2024-05-01', 'MONTHLY', 'UTC', '2024-06-01'],
  ['2024-05-01', 'DAILY', 'UTC', '2024-05-02'],
  ['2024-05-06', 'WEEKLY', 'UTC', '2024-05-13'],
  ['2024-05-12', 'WEEKLY', 'UTC', '2024-05-13'],
  ['2024-10-05', 'HALF_YEARLY', 'UTC', '2025-01-01'],
  ['2024-12-31', 'ANNUAL', 'UTC', '2025-01-01'],
] as const) {
  test(`the calendar anchor of ${start}, ${unit} in ${zone}`, () => {
    assert.is(calendarAnchor(at(start), unit, zone), at(anchor));
  });
}

const zones = [
  'UTC',
  'America/New_York',
  'Europe/Berlin',
  'Asia/Kolkata',
  'Pacific/Apia',
  'Australia/Lord_Howe',
];
const anyInstant = fc
  .integer({ min: Date.parse('2001-01-01'), max: Date.parse('2039-12-31') })
  .map(instantOf);
const anyCadence = fc.record({
  anchor: anyInstant,
  unit: fc.constantFrom(...periodUnits),
  count: fc.integer({ min: 1, max: 5 }),
  zone: fc.constantFrom(...zones),
});

test('periods tile time: each ends where the next begins, and later ones begin later', () => {
  fc.assert(
    fc.property(anyCadence, anyInstant, fc.nat(40), (cadence, start, index) => {
      const here = periodBoundary(cadence, start, index);
      const next = periodBoundary(cadence, start, index + 1);
      assert.ok(here <= next, `${here} is after ${next}`);
      if (here < next) {
        assert.equal(periodAt(cadence, start, here), { index, start: here, end: next });
        const last = instantOf(millisecondsOf(next) - 1);
        assert.equal(periodAt(cadence, start, last), { index, start: here, end: next });
      }
    }),
    { numRuns: 400 },
  );
});

test('every instant from the start on lies in exactly one period', () => {
  fc.assert(
    fc.property(anyCadence, anyInstant, fc.nat(4_000 * 86_400), (cadence, start, seconds) => {
      const instant = instantOf(millisecondsOf(start) + seconds * 1_000);
      const period = periodAt(cadence, start, instant);
      assert.ok(period.start <= instant && instant < period.end, `${instant} in ${period.index}`);
      assert.is(periodBoundary(cadence, start, period.index), period.start);
      assert.is(periodBoundary(cadence, start, period.index + 1), period.end);
    }),
    { numRuns: 400 },
  );
});

test('what is before the first period lies in none', () => {
  const cadence: Cadence = { anchor: at('2024-01-01'), unit: 'MONTHLY', count: 1, zone: 'UTC' };
  assert.throws(
    () => periodAt(cadence, at('2024-01-01'), at('2023-12-31')),
    /before the first period/,
  );
  assert.throws(() => periodBoundary(cadence, at('2024-01-01'), -1), /no period -1/);
});

test.run();

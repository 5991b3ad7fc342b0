import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Instant, instantOf, lastInstant, millisecondsOf } from './instant.ts';
import {
  type Cadence,
  calendarAnchor,
  calendarPeriod,
  type PeriodUnit,
  periodAt,
  periodBoundary,
  periodUnits,
  wholePeriod,
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
  test(`E 9.2 ${name}: ${period} from ${start}`, () => {
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
  test(`E 9.1 the calendar anchor of ${start}, ${unit} in ${zone}`, () => {
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

test('in UTC boundaries are what plain arithmetic on the date says', () => {
  const lengths = { DAILY: 1, WEEKLY: 7, MONTHLY: 1, QUARTERLY: 3, HALF_YEARLY: 6, ANNUAL: 12 };
  fc.assert(
    fc.property(anyCadence, fc.nat(100), ({ anchor, unit, count }, index) => {
      const from = new Date(anchor);
      const length = lengths[unit] * count * index;
      const isDays = unit === 'DAILY' || unit === 'WEEKLY';
      const month = from.getUTCMonth() + (isDays ? 0 : length);
      const lastDay = new Date(Date.UTC(from.getUTCFullYear(), month + 1, 0)).getUTCDate();
      const day = isDays ? from.getUTCDate() + length : Math.min(from.getUTCDate(), lastDay);
      const clock = millisecondsOf(anchor) % 86_400_000;
      const expected = Date.UTC(from.getUTCFullYear(), month, day) + clock;
      const cadence = { anchor, unit, count, zone: 'UTC' };
      assert.is(periodBoundary(cadence, anchor, index), instantOf(expected));
    }),
    { numRuns: 1_000 },
  );
});

/** An instant and the month of a subscription that it lies in: start, anchor, instant, start and end of the month. */
for (const [start, anchor, instant, from, to] of [
  ['2024-01-05', '2024-01-05', '2024-10-19T12:00:00Z', '2024-10-05', '2024-11-05'],
  ['2024-01-31', '2024-01-31', '2024-02-15', '2024-01-31', '2024-02-29'],
  ['2025-01-31', '2025-01-31', '2025-02-15', '2025-01-31', '2025-02-28'],
  ['2024-01-05', '2024-02-01', '2024-01-10', '2024-01-05', '2024-02-01'],
  ['2024-01-05', '2024-01-05', '2024-02-05', '2024-02-05', '2024-03-05'],
  ['2024-01-05', '2024-01-05', '2024-02-04T23:59:59.999Z', '2024-01-05', '2024-02-05'],
] as const) {
  test(`the month of ${instant} from ${start} with anchor ${anchor} (E 7)`, () => {
    const cadence: Cadence = { anchor: at(anchor), unit: 'MONTHLY', count: 1, zone: 'UTC' };
    const found = periodAt(cadence, at(start), at(instant));
    assert.equal([found.start, found.end], [at(from), at(to)]);
  });
}

const firstInstant = '0001-01-01T00:00:00.000Z' as Instant;
const years = '0001-01-01T00:00:00.000Z|0001-02-28T23:59:59.999Z|9999-11-30|9999-12-31';

test('periods reach to both ends of the years that can be written, and are refused beyond', () => {
  const ends = years.split('|').map(at);
  fc.assert(
    fc.property(
      anyCadence,
      fc.constantFrom(...ends),
      fc.constantFrom(...ends),
      fc.constantFrom(...ends),
      fc.nat(30),
      (cadence, anchor, one, other, index) => {
        const [start, instant] = one < other ? [one, other] : [other, one];
        const own = { ...cadence, anchor };
        for (const asked of [
          () => periodBoundary(own, start, index),
          () => periodAt(own, start, instant).end,
          () => periodAt(own, start, instant).start,
        ]) {
          const found = boundaryOf(asked);
          if (found === null) continue;
          assert.ok(firstInstant <= found && found <= lastInstant, found);
          assert.is(found.length, 24);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

/** The value; null where there is none because time ends. */
function boundaryOf(ask: () => Instant): Instant | null {
  try {
    return ask();
  } catch (error) {
    assert.instance(error, RangeError);
    assert.match((error as RangeError).message, /years 1 to 9999/);
    return null;
  }
}

test('the last boundary is in the year 9999, and the next is refused', () => {
  const cadence: Cadence = { anchor: at('9999-10-31'), unit: 'MONTHLY', count: 1, zone: 'UTC' };
  assert.is(periodBoundary(cadence, at('9999-10-31'), 2), at('9999-12-31'));
  assert.throws(() => periodBoundary(cadence, at('9999-10-31'), 3), /years 1 to 9999/);
  assert.throws(() => periodAt(cadence, at('9999-10-31'), at('9999-12-31')), /years 1 to 9999/);
  assert.throws(() => calendarAnchor(lastInstant, 'DAILY', 'UTC'), /years 1 to 9999/);
});

test('periods of the calendar hold their instant, follow one another, and are cut where time ends', () => {
  fc.assert(
    fc.property(
      fc.oneof(anyInstant, fc.constant(firstInstant), fc.constant(lastInstant)),
      fc.constantFrom(...periodUnits),
      fc.constantFrom(...zones),
      (instant, unit, zone) => {
        const { start, end } = calendarPeriod(instant, unit, zone);
        assert.ok(start <= instant && (instant < end || end === lastInstant));
        if (end < lastInstant) assert.is(calendarPeriod(end, unit, zone).start, end);
        if (start > firstInstant) {
          const before = instantOf(millisecondsOf(start) - 1);
          assert.is(calendarPeriod(before, unit, zone).end, start);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

test('a day that a zone skips is a period without length, and no instant lies in it', () => {
  const anchor = at('2011-12-28T10:00:00Z');
  const cadence: Cadence = { anchor, unit: 'DAILY', count: 1, zone: 'Pacific/Apia' };
  const boundaries = [1, 2, 3, 4].map((index) => periodBoundary(cadence, anchor, index));
  const skipped = at('2011-12-30T10:00:00Z');
  assert.equal(boundaries, [at('2011-12-29T10:00:00Z'), skipped, skipped, at('2011-12-31T10:00Z')]);
  assert.is(periodAt(cadence, anchor, skipped).index, 3);
});

test('a clock that goes back over midnight does not bring the period before again', () => {
  const anchor = at('2010-11-01T02:30:00Z');
  const cadence: Cadence = { anchor, unit: 'DAILY', count: 1, zone: 'America/St_Johns' };
  // At 00:01 on Sunday the clock went back to 23:01 on Saturday.
  const found = periodAt(cadence, anchor, at('2010-11-07T02:45:00Z'));
  assert.equal([found.index, found.start], [6, at('2010-11-07T02:30:00Z')]);
});

test('what is before the first period lies in none', () => {
  const cadence: Cadence = { anchor: at('2024-01-01'), unit: 'MONTHLY', count: 1, zone: 'UTC' };
  assert.throws(
    () => periodAt(cadence, at('2024-01-01'), at('2023-12-31')),
    /before the first period/,
  );
  assert.throws(() => periodBoundary(cadence, at('2024-01-01'), -1), /no period -1/);
  const none = { ...cadence, count: 0 };
  assert.throws(() => periodBoundary(none, at('2024-01-01'), 1), /at least one unit/);
});

for (const [start, anchor, count, index, from, to] of [
  ['2024-01-20', '2024-02-01', 1, 0, '2024-01-01', '2024-02-01'],
  ['2024-01-20', '2024-02-01', 1, 1, '2024-02-01', '2024-03-01'],
  ['2024-04-01', '2024-04-14', 2, 0, '2024-02-14', '2024-04-14'],
  ['2024-02-10', '2024-03-31', 1, 0, '2024-01-31', '2024-02-29'],
  ['2024-04-14', '2024-04-14', 2, 0, '2024-04-14', '2024-06-14'],
  [
    '2024-04-14T15:00:00Z',
    '2024-04-14T12:00:00Z',
    1,
    0,
    '2024-04-14T15:00:00Z',
    '2024-05-14T12:00:00Z',
  ],
] as const) {
  test(`period ${index} from ${start} with anchor ${anchor} is the end of a whole one from ${from}`, () => {
    const cadence: Cadence = { anchor: at(anchor), unit: 'MONTHLY', count, zone: 'UTC' };
    assert.equal(wholePeriod(cadence, at(start), index), { start: at(from), end: at(to) });
  });
}

test.run();

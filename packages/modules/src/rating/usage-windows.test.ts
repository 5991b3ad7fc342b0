import type { Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ResetPeriod } from '../entitlements/index.ts';
import type { AggregationType } from '../meters/index.ts';
import { at, span } from './test-lines.ts';
import { usageWindows } from './usage-windows.ts';

const test = suite('windows of usage');

const short = (instant: Instant | null): string =>
  instant === null ? '∞' : instant.slice(5, 16).replace('T00:00', '');

interface Asked {
  readonly rated: readonly [string, string];
  readonly resets: ResetPeriod | null;
  readonly billing?: readonly [string, string];
  readonly start?: string;
  readonly anchor?: string;
  readonly zone?: string;
  readonly aggregation?: AggregationType;
}

/** Windows as `before|through`, in days of a year. */
function wanted(asked: Asked): readonly string[] {
  const { rated, resets, zone = 'UTC', aggregation = 'SUM' } = asked;
  const [start = '2026-01-15', anchor = start] = [asked.start, asked.anchor];
  const billing = span(...(asked.billing ?? rated));
  const rhythm = { resets, billing, anchor: at(anchor), zone, start: at(start) };
  return usageWindows(span(...rated), aggregation, rhythm).map(
    ({ before, through, start: from, end }) => {
      assert.is((before ?? through).start, from);
      assert.is(before?.end ?? at(rated[0]), at(rated[0]));
      assert.ok(end === null || through.end <= end);
      const carried = before === null ? '' : `${short(before.start)}..${short(before.end)}, then `;
      return `${carried}${short(before === null ? from : before.end)}..${short(through.end)} of ${short(end)}`;
    },
  );
}

const february = ['2026-02-15', '2026-03-15'] as const;

for (const [name, asked, expected] of [
  ['with the billing period', { rated: february, resets: null }, ['02-15..03-15 of 03-15']],
  [
    'a line that begins within the billing period finds what was used before',
    { rated: ['2026-02-20', '2026-03-15'], billing: february, resets: null },
    ['02-15..02-20, then 02-20..03-15 of 03-15'],
  ],
  [
    'never: from the start of the subscription',
    { rated: february, resets: 'NEVER' },
    ['01-15..02-15, then 02-15..03-15 of ∞'],
  ],
  [
    'by the year of the subscription',
    { rated: february, resets: 'ANNUAL' },
    ['01-15..02-15, then 02-15..03-15 of 01-15'],
  ],
  ['by the month', { rated: february, resets: 'MONTHLY' }, ['02-15..03-15 of 03-15']],
  [
    'by the month within a quarter',
    { rated: ['2026-01-31', '2026-04-30'], start: '2026-01-31', resets: 'MONTHLY' },
    ['01-31..02-28 of 02-28', '02-28..03-31 of 03-31', '03-31..04-30 of 04-30'],
  ],
  [
    'weeks that begin before the period and end after it',
    { rated: ['2026-02-15', '2026-03-01'], resets: 'WEEKLY', anchor: '2026-01-14' },
    ['02-11..02-15, then 02-15..02-18 of 02-18', '02-18..02-25 of 02-25', '02-25..03-01 of 03-04'],
  ],
  [
    'days keep the clock time of the anchor in its zone',
    {
      rated: ['2026-03-28T11:30Z', '2026-03-30T10:30Z'],
      start: '2026-01-01T11:30Z',
      resets: 'DAILY',
      zone: 'Europe/Berlin',
    },
    ['03-28T11:30..03-29T10:30 of 03-29T10:30', '03-29T10:30..03-30T10:30 of 03-30T10:30'],
  ],
  [
    'the first period ends with the anchor',
    {
      rated: ['2026-01-20', '2026-02-01'],
      start: '2026-01-20',
      anchor: '2026-02-01',
      resets: 'ANNUAL',
    },
    ['01-20..02-01 of 02-01'],
  ],
  [
    'half years',
    { rated: ['2026-07-01', '2026-08-01'], start: '2026-01-01', resets: 'HALF_YEARLY' },
    ['07-01..08-01 of 01-01'],
  ],
  [
    'quarters',
    { rated: ['2026-06-01', '2026-07-01'], start: '2026-01-01', resets: 'QUARTERLY' },
    ['04-01..06-01, then 06-01..07-01 of 07-01'],
  ],
  [
    'a level is held against the allowance once',
    { rated: february, resets: 'DAILY', aggregation: 'MAX' },
    ['02-15..03-15 of 03-15'],
  ],
] as const satisfies readonly (readonly [string, Asked, readonly string[]])[]) {
  test(name, () => assert.equal(wanted(asked), expected));
}

test('what is rated lies in its billing period', () => {
  const billing = ['2026-02-20', '2026-03-15'] as const;
  assert.throws(() => wanted({ rated: february, resets: null, billing }), /lies in its billing/);
});

test('every aggregation but sums and counts is a level', () => {
  for (const [aggregation, count] of [
    ['COUNT', 28],
    ['SUM', 28],
    ['SUM_WITH_MULTIPLIER', 28],
    ['AVG', 1],
    ['LATEST', 1],
    ['COUNT_UNIQUE', 1],
    ['WEIGHTED_SUM', 1],
  ] as const) {
    assert.is(wanted({ rated: february, resets: 'DAILY', aggregation }).length, count, aggregation);
  }
});

test.run();

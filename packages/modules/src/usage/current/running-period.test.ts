import type { Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runningPeriod } from './running-period.ts';

const test = suite('running period');

for (const [period, at, zone, expected] of [
  ['DAILY', '2026-10-25T12:00', 'Europe/Berlin', ['2026-10-24T22:00', '2026-10-25T23:00']],
  ['DAILY', '2026-03-29T00:30', 'Europe/Berlin', ['2026-03-28T23:00', '2026-03-29T22:00']],
  ['WEEKLY', '2026-11-23T00:00', 'UTC', ['2026-11-23T00:00', '2026-11-30T00:00']],
  ['WEEKLY', '2026-11-22T23:59', 'UTC', ['2026-11-16T00:00', '2026-11-23T00:00']],
  ['WEEKLY', '2026-11-22T20:00', 'Asia/Kolkata', ['2026-11-22T18:30', '2026-11-29T18:30']],
  ['MONTHLY', '2028-02-29T12:00', 'UTC', ['2028-02-01T00:00', '2028-03-01T00:00']],
  ['MONTHLY', '2026-12-31T23:30', 'Europe/Berlin', ['2026-12-31T23:00', '2027-01-31T23:00']],
  ['QUARTERLY', '2026-11-23T00:00', 'UTC', ['2026-10-01T00:00', '2027-01-01T00:00']],
  ['HALF_YEARLY', '2026-06-30T23:59', 'UTC', ['2026-01-01T00:00', '2026-07-01T00:00']],
  ['ANNUAL', '2026-01-01T00:00', 'UTC', ['2026-01-01T00:00', '2027-01-01T00:00']],
  ['NEVER', '2026-01-01T00:00', 'UTC', null],
] as const) {
  test(`${period} at ${at} in ${zone}`, () => {
    const instant = (text: string): string => `${text}:00.000Z`;
    assert.equal(
      runningPeriod(period, instant(at) as Instant, zone),
      expected && { start: instant(expected[0]), end: instant(expected[1]) },
    );
  });
}

test.run();

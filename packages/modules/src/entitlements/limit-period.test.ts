import type { Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { aggregateEntitlements } from './aggregate-entitlements.ts';
import type { GrantedEntitlement, GrantRhythm, ResetPeriod } from './granted-entitlement.ts';
import { limitPeriod } from './limit-period.ts';
import { now, ofPlan } from './test-granted.ts';

const test = suite('period of a limit');

const instant = (text: string): Instant => `${text}:00.000Z` as Instant;

const rhythm = (fields: Partial<GrantRhythm> = {}): GrantRhythm => ({
  start: instant('2026-01-31T08:30'),
  anchor: instant('2026-01-31T08:30'),
  zone: 'UTC',
  billing: { start: instant('2026-02-28T08:30'), end: instant('2026-03-31T08:30') },
  ...fields,
});

const periodOf = (granted: readonly GrantedEntitlement[], at: Instant = now) => {
  const [only] = aggregateEntitlements(granted, at);
  assert.is(only?.feature_type, 'metered');
  return only?.feature_type === 'metered' ? limitPeriod(only, at) : null;
};

for (const [resets, start, end] of [
  [null, '2026-02-28T08:30', '2026-03-31T08:30'],
  ['DAILY', '2026-03-15T08:30', '2026-03-16T08:30'],
  ['WEEKLY', '2026-03-14T08:30', '2026-03-21T08:30'],
  ['MONTHLY', '2026-02-28T08:30', '2026-03-31T08:30'],
  ['QUARTERLY', '2026-01-31T08:30', '2026-04-30T08:30'],
  ['HALF_YEARLY', '2026-01-31T08:30', '2026-07-31T08:30'],
  ['ANNUAL', '2026-01-31T08:30', '2027-01-31T08:30'],
  ['NEVER', '2026-01-31T08:30', null],
] as const) {
  test(`${resets ?? 'with the billing period'}: from the anchor, with its clock time`, () => {
    const usage_reset_period: ResetPeriod | null = resets;
    assert.equal(periodOf([ofPlan({ usage_reset_period, rhythm: rhythm() })]), {
      start: instant(start),
      end: end === null ? null : instant(end),
    });
  });
}

test('the clock time is kept in the zone of the subscription', () => {
  const berlin = rhythm({ zone: 'Europe/Berlin' });
  const granted = [ofPlan({ usage_reset_period: 'MONTHLY', rhythm: berlin })];
  assert.equal(periodOf(granted, instant('2026-04-10T00:00')), {
    start: instant('2026-03-31T07:30'),
    end: instant('2026-04-30T07:30'),
  });
});

test('of several subscriptions the oldest counts, whatever their order', () => {
  const older = ofPlan({ usage_reset_period: 'DAILY', rhythm: rhythm() });
  const start = instant('2026-02-01T20:00');
  const younger = ofPlan({
    usage_reset_period: 'DAILY',
    subscription_id: 'subs_0',
    rhythm: rhythm({ start, anchor: start }),
  });
  const expected = { start: instant('2026-03-15T08:30'), end: instant('2026-03-16T08:30') };
  assert.equal(periodOf([older, younger]), expected);
  assert.equal(periodOf([younger, older]), expected);
});

test('a period is asked for again and again, and is always that of the instant and the unit', () => {
  const one = rhythm();
  const asked = (usage_reset_period: ResetPeriod, at: string) =>
    periodOf([ofPlan({ usage_reset_period, rhythm: one })], instant(at))?.start;
  assert.is(asked('DAILY', '2026-03-15T12:00'), instant('2026-03-15T08:30'));
  assert.is(asked('DAILY', '2026-03-16T08:29'), instant('2026-03-15T08:30'));
  assert.is(asked('DAILY', '2026-03-16T08:30'), instant('2026-03-16T08:30'));
  assert.is(asked('DAILY', '2026-03-15T12:00'), instant('2026-03-15T08:30'));
  assert.is(asked('MONTHLY', '2026-03-15T12:00'), instant('2026-02-28T08:30'));
});

test.run();

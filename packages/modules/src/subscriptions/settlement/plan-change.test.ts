import type { SubscriptionId } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Proration } from './changes.ts';
import { changePlan, changeType, type PlanSide, restOf } from './plan-change.ts';
import { settlementOf } from './settlement.ts';
import {
  at,
  charged,
  line,
  periodOf,
  type Rhythm,
  rhythm,
  shown,
  text,
  usd,
} from './test-lines.ts';

const test = suite('changes of plans');

const side = (written: string, subscription: Rhythm, context: PlanSide['context']): PlanSide => ({
  context,
  lines: written
    .split(', ')
    .map((each) => line(each, subscription, { start: context.window.start })),
});

const opened = (written: string, subscription: Rhythm): PlanSide => {
  const context = periodOf(subscription, 0);
  const { lines } = side(written, subscription, context);
  return { context, lines: lines.map((each) => charged(each, context)) };
};

/** The settlement of a change within the first period, of both sides at once. */
const settled = (
  old: PlanSide,
  next: PlanSide,
  when: string,
  proration: Proration = 'create_prorations',
) => {
  const change = { at: at(when), proration };
  const lines = changePlan(old, next, change);
  const cause = {
    subscription_id: 'subs_1' as SubscriptionId,
    reason: 'plan_changed',
    key: 'k',
    period_index: 0,
    at: at(when),
    currency: usd,
  } as const;
  return settlementOf(cause, [...lines.old, ...lines.new]);
};

for (const [name, period, start, when, from, to, credit, charge, net] of [
  ['day 10 of 30', '1 M', '2026-04-01', '2026-04-11', '50 M', '100 M', '33.33', '66.67', '33.34'],
  ['a quarter, half over', '1 Q', '2026-01-01', '2026-02-15', '300 Q', '150 Q', '150', '75', '-75'],
  [
    'a year, 100 days used',
    '1 A',
    '2026-01-01',
    '2026-04-11',
    '600 A',
    '1200 A',
    '435.62',
    '871.23',
    '435.61',
  ],
  ['half a month', '1 M', '2026-04-01', '2026-04-16', '100 M', '200 M', '50', '100', '50'],
  ['600 to 2000', '1 M', '2026-04-01', '2026-04-16', '600 M', '2000 M', '300', '1000', '700'],
  ['17 of 31 days', '1 M', '2026-03-01', '2026-03-15', '10 M', '20 M', '5.48', '10.97', '5.49'],
] as const) {
  test(`E 13 B the anchor is kept and both sides are prorated: ${name}, ${net}`, () => {
    const subscription = rhythm(period, start);
    const old = opened(from, subscription);
    const next = side(to, subscription, restOf(old.context, at(when)));
    const found = settled(old, next, when);
    assert.equal(
      [found.credit_amount, found.charge_amount, found.net_amount],
      [credit, charge, net],
    );
  });
}

test('E 13, D65 another period begins a new cycle at the change and is charged whole', () => {
  const old = opened('600 M', rhythm('1 M', '2026-04-01'));
  const yearly = rhythm('1 A', '2026-04-16');
  const found = settled(old, side('2000 A', yearly, periodOf(yearly, 0)), '2026-04-16');
  assert.equal(shown(found.lines), [
    '-300 600 M: 2026-04-16..2026-05-01',
    '+2000 2000 A: 2026-04-16..2027-04-16',
  ]);
  assert.is(found.net_amount, '1700');
});

test('E 13 B what a credit leaves over is not lost: 500 against 200 and 200 leave 100', () => {
  const april = rhythm('1 M', '2026-04-01');
  const old = opened('1000 M', april);
  const yearly = rhythm('1 A', '2026-04-16');
  const next = side('200 A, 200 A', yearly, periodOf(yearly, 0));
  assert.is(settled(old, next, '2026-04-16').net_amount, '-100');
});

test('D65 nothing is credited or charged before the next boundary where nothing is prorated; usage is billed', () => {
  const april = rhythm('1 M', '2026-04-01');
  const old = opened('600 M, 1 M usage', april);
  const next = side('2000 M', april, restOf(old.context, at('2026-04-16')));
  const found = settled(old, next, '2026-04-16', 'none');
  assert.equal(shown(found.lines), ['usage 1 M usage: 2026-04-01..2026-04-16']);
});

test('D33 what the old plan owes in arrears is billed with the change', () => {
  const april = rhythm('1 M', '2026-04-01');
  const old = opened('30 M arrear, 1 M usage, 60 M', april);
  const next = side('90 M', april, restOf(old.context, at('2026-04-16')));
  assert.equal(shown(settled(old, next, '2026-04-16').lines), [
    '+15 30 M arrear: 2026-04-01..2026-04-16',
    'usage 1 M usage: 2026-04-01..2026-04-16',
    '-30 60 M: 2026-04-16..2026-05-01',
    '+45 90 M: 2026-04-16..2026-05-01',
  ]);
});

test('a settlement of the same cause has the same id, and of another one another', () => {
  const cause = {
    subscription_id: 'subs_1' as SubscriptionId,
    reason: 'line_added',
    key: 'k',
    period_index: 0,
    at: at('2026-04-01'),
    currency: usd,
  } as const;
  const { settlement_id: id } = settlementOf(cause, []);
  assert.is(settlementOf({ ...cause, at: at('2026-05-01') }, []).settlement_id, id);
  assert.is.not(settlementOf({ ...cause, key: 'l' }, []).settlement_id, id);
  assert.is.not(settlementOf({ ...cause, reason: 'line_removed' }, []).settlement_id, id);
});

const month = rhythm('1 M', '2026-01-01');
for (const [from, to, expected] of [
  ['10 M', '20 M', 'upgrade'],
  ['20 M', '10 M', 'downgrade'],
  ['10 M', '120 A', 'lateral'],
  ['10 M', '30 Q', 'lateral'],
  ['10 M', '60 H', 'lateral'],
  ['10 M', '119.99 A', 'downgrade'],
  ['7 W', '1 D', 'lateral'],
  ['10 M', '2.30 W', 'upgrade'],
  ['10 M', '0.32 D', 'downgrade'],
  ['10 M', '10 M, 500 M usage', 'lateral'],
  ['10 M', '10 M, 500 1', 'lateral'],
  ['10 M arrear', '5 M, 5 M arrear', 'lateral'],
] as const) {
  test(`E 13 B ${from} to ${to} is ${expected}`, () => {
    const lines = (written: string) => written.split(', ').map((each) => line(each, month));
    assert.is(changeType(lines(from), lines(to), usd), expected);
  });
}

test('E 13 B quantities count', () => {
  const two = line('10 M', month, { quantity: text('2') });
  assert.is(changeType([line('10 M', month)], [two], usd), 'upgrade');
});

test.run();

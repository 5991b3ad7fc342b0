import { decimal, textOf, zero } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { closingLines, openingLines } from './boundaries.ts';
import type { ChargedLine } from './charged-line.ts';
import type { SettlementLine } from './settlement.ts';
import { at, line, periodOf, periodWith, type Rhythm, rhythm, shown, text } from './test-lines.ts';

const test = suite('what is charged at the boundaries of periods');

const sum = (lines: readonly SettlementLine[]): string =>
  textOf(
    lines.reduce(
      (total, each) => (each.kind === 'charge' ? total.plus(decimal(each.amount)) : total),
      zero,
    ),
  );

const monthly = rhythm('1 M', '2026-01-01');
const quarterly = rhythm('1 Q', '2026-01-01');

/** The amounts that are charged at the ends and the starts, of the first periods. */
const totals = (name: string, subscription: Rhythm, lines: string, expected: string): void => {
  test(`E 11.1 ${name}`, () => {
    const all = lines.split(', ').map((each) => line(each, subscription));
    const found = expected.split(' ').map((_, index) => {
      const context = periodOf(subscription, index);
      return sum([...openingLines(all, context), ...closingLines(all, context)]);
    });
    assert.equal(found, expected.split(' '));
  });
};

totals(
  'months, quarters and half-years in arrears',
  monthly,
  '10 M arrear, 100 Q arrear, 200 H arrear',
  '10 10 110 10 10 310 10 10 110 10 10 310',
);
totals(
  'months, quarters and years in arrears',
  monthly,
  '50 M arrear, 300 Q arrear, 1200 A arrear',
  '50 50 350 50 50 350 50 50 350 50 50 1550',
);
totals(
  'months, quarters and years in advance',
  monthly,
  '300 M, 400 Q, 500 A',
  '1200 300 300 700 300 300 700 300 300 700 300 300',
);
totals(
  'quarters with a year in arrears',
  quarterly,
  '500 Q arrear, 5000 A arrear',
  '500 500 500 5500',
);

test('E 11.1 mixed lines: what closes and what opens at one boundary', () => {
  const lines = ['20 M', '150 Q arrear', '2400 A'].map((each) => line(each, monthly));
  const boundary = (index: number) =>
    sum([
      ...(index === 0 ? [] : closingLines(lines, periodOf(monthly, index - 1))),
      ...openingLines(lines, periodOf(monthly, index)),
    ]);
  assert.equal([0, 1, 3, 12].map(boundary), ['2420', '20', '170', '2570']);
});

test('E 11.1 a quarter in advance is charged with the months that it begins in', () => {
  const quarter = line('100 Q', monthly);
  const charged = (index: number) => shown(openingLines([quarter], periodOf(monthly, index)));
  assert.equal(charged(0), ['+100 100 Q: 2026-01-01..2026-04-01']);
  assert.equal([charged(1), charged(2)], [[], []]);
  assert.equal(charged(3), ['+100 100 Q: 2026-04-01..2026-07-01']);
});

test('E 11.1 a quarter in arrears is charged with the month that it ends with', () => {
  const quarter = line('100 Q arrear', monthly);
  const charged = (index: number) => shown(closingLines([quarter], periodOf(monthly, index)));
  assert.equal([charged(0), charged(1), charged(3)], [[], [], []]);
  assert.equal(charged(2), ['+100 100 Q arrear: 2026-01-01..2026-04-01']);
});

test('usage of longer periods is billed when they end, and of months every month', () => {
  const lines = ['1 M usage', '1 Q usage'].map((each) => line(each, monthly));
  assert.equal(shown(closingLines(lines, periodOf(monthly, 1))), [
    'usage 1 M usage: 2026-02-01..2026-03-01',
  ]);
  assert.equal(shown(closingLines(lines, periodOf(monthly, 2))), [
    'usage 1 M usage: 2026-03-01..2026-04-01',
    'usage 1 Q usage: 2026-01-01..2026-04-01',
  ]);
});

test('three months and a quarter are the same period', () => {
  const threeMonths = rhythm('3 M', '2026-01-01');
  assert.is(line('100 Q', threeMonths).own, null);
  assert.is.not(line('100 H', threeMonths).own, null);
});

test('a line with longer periods counts them from its own start', () => {
  const added = line('100 Q', monthly, { start: at('2026-01-15') });
  assert.equal(shown(openingLines([added], periodOf(monthly, 0))), [
    '+100 100 Q: 2026-01-15..2026-04-15',
  ]);
  assert.equal(shown(openingLines([added], periodOf(monthly, 3))), [
    '+100 100 Q: 2026-04-15..2026-07-15',
  ]);
});

test('E 11.1 what is charged once is charged whole with the period that it starts in, times its quantity', () => {
  const setup = line('100 1', monthly, { quantity: text('3'), start: at('2026-02-01') });
  assert.equal(shown(openingLines([setup], periodOf(monthly, 0))), []);
  assert.equal(shown(openingLines([setup], periodOf(monthly, 1))), [
    '+300 100 1: 2026-02-01..2026-02-01',
  ]);
  assert.equal(shown(openingLines([setup], periodOf(monthly, 2))), []);
  const late = { ...setup, invoiced: 'ARREAR' } as const;
  assert.equal(
    [0, 1, 2].map((index) => closingLines([late], periodOf(monthly, index)).length),
    [0, 1, 0],
  );
});

const cut = (dates: Partial<ChargedLine>, expected: string[]): void => {
  const [start, end] = [dates.start ?? '', dates.end ?? ''].map((each) => each.slice(0, 10));
  test(`E 12.3 a line is charged for its part of a period: ${start} to ${end}`, () => {
    const month = { ...monthly, cadence: { ...monthly.cadence } };
    const lines = [line('31 M', month, dates), line('31 M arrear', month, dates)];
    const context = periodOf(month, 0);
    assert.equal(
      shown([...openingLines(lines, context), ...closingLines(lines, context)]),
      expected,
    );
  });
};

cut({ start: at('2026-01-20') }, [
  '+12 31 M: 2026-01-20..2026-02-01',
  '+12 31 M arrear: 2026-01-20..2026-02-01',
]);
cut({ end: at('2026-01-20') }, [
  '+19 31 M: 2026-01-01..2026-01-20',
  '+19 31 M arrear: 2026-01-01..2026-01-20',
]);
cut({ start: at('2026-02-01') }, []);
cut({ start: at('2025-12-01'), end: at('2026-01-01') }, []);

test('E 12.3 a short first period costs its part of the month that it ends, from the 20th of January 12 of 31', () => {
  const calendar = rhythm('1 M', '2026-01-20', '2026-02-01');
  const fee = line('31 M', calendar);
  assert.equal(shown(openingLines([fee], periodOf(calendar, 0))), [
    '+12 31 M: 2026-01-20..2026-02-01',
  ]);
  assert.equal(shown(openingLines([fee], periodOf(calendar, 0, false))), [
    '+31 31 M: 2026-01-20..2026-02-01',
  ]);
  assert.equal(sum(openingLines([fee], periodOf(calendar, 1))), '31');
});

test('E 12.3 B a line that is added in a later period is charged for its part of that one', () => {
  const added = line('31 M', monthly, { start: at('2026-03-16') });
  const context = periodWith(monthly, '2026-03-16');
  assert.equal(shown(openingLines([added], context)), ['+16 31 M: 2026-03-16..2026-04-01']);
});

test('a quarter that is cut by the end of its line costs its part, and is billed when it ends', () => {
  const ended = line('90 Q arrear', monthly, { end: at('2026-02-15') });
  assert.equal(shown(closingLines([ended], periodOf(monthly, 0))), []);
  assert.equal(shown(closingLines([ended], periodOf(monthly, 1))), [
    '+45 90 Q arrear: 2026-01-01..2026-02-15',
  ]);
  assert.equal(shown(closingLines([ended], periodOf(monthly, 2))), []);
});

test('prices are worth what their model says: tiers and packages, not an amount times a quantity', () => {
  const seats = line('0 M', monthly, {
    start: at('2026-02-15'),
    quantity: text('15'),
    terms: {
      model: 'graduated',
      minimum_quantity: text('0'),
      price_unit: null,
      tiers: [
        { up_to: text('10'), unit_amount: text('50'), flat_amount: text('0') },
        { up_to: null, unit_amount: text('40'), flat_amount: text('0') },
      ],
    },
  });
  assert.is(sum(openingLines([seats], periodOf(monthly, 1))), '350');
});

test.run();

import { decimal, textOf, zero } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SettlementContext } from './boundaries.ts';
import {
  addLine,
  type Change,
  cancellationLines,
  changeQuantity,
  removeLine,
  replaceLine,
} from './changes.ts';
import type { ChargedLine } from './charged-line.ts';
import { afterPause, lengthened } from './pauses.ts';
import type { SettlementLine } from './settlement.ts';
import {
  at,
  charged,
  line,
  lineId,
  periodOf,
  rhythm,
  shown,
  span,
  text,
  withCharge,
} from './test-lines.ts';

const test = suite('changes of lines');

const january = rhythm('1 M', '2026-01-01');
const context = periodOf(january, 0);

const net = (lines: readonly SettlementLine[]): string =>
  textOf(
    lines.reduce((sum, each) => {
      if (!('amount' in each)) return sum;
      const amount = decimal(each.amount);
      return each.kind === 'charge' ? sum.plus(amount) : sum.minus(amount);
    }, zero),
  );

const prorating = (when: string): Change => ({ at: at(when), proration: 'create_prorations' });
const unprorated = (when: string): Change => ({ at: at(when), proration: 'none' });

const changed = (of: ChargedLine, quantity: string, change: Change, here = context) =>
  changeQuantity(of, { line_item_id: lineId('next'), quantity: text(quantity) }, here, change);

const seats = (quantity: string, price: string, more: Partial<ChargedLine> = {}): ChargedLine =>
  charged(line(`${price} M`, january, { quantity: text(quantity), ...more }), context);

for (const [from, to, price, when, expected] of [
  ['1', '3', '50', '2026-01-16', '51.61'],
  ['1', '2', '100', '2026-01-31', '3.23'],
  ['1', '3', '50', '2026-01-01', '100'],
  ['1', '2', '100', '2026-01-31T23:59:59Z', '0'],
  ['3', '3', '50', '2026-01-16', '0'],
  ['3', '1', '50', '2026-01-16', '-51.61'],
  ['5', '10', '10', '2026-01-15', '27.42'],
  ['1000', '500', '1', '2026-01-15', '-274.2'],
] as const) {
  test(`E 11.4, 12.2 quantity ${from} to ${to} at ${price} on ${when.slice(0, 10)}: ${expected}`, () => {
    assert.is(net(changed(seats(from, price), to, prorating(when)).lines), expected);
  });
}

test('a quantity that grows is charged for what is added; one that shrinks is credited and charged anew', () => {
  assert.equal(shown(changed(seats('1', '50'), '3', prorating('2026-01-16')).lines), [
    '+51.61 next: 2026-01-16..2026-02-01',
  ]);
  assert.equal(shown(changed(seats('3', '50'), '1', prorating('2026-01-16')).lines), [
    '-77.42 50 M: 2026-01-16..2026-02-01',
    '+25.81 next: 2026-01-16..2026-02-01',
  ]);
});

test('the line after it carries the charges of the one before, and gives back both', () => {
  const { ended, begun, lines } = changed(seats('1', '100'), '2', prorating('2026-01-11'));
  assert.equal([ended.end, ended.charged, begun.start], [at('2026-01-11'), [], at('2026-01-11')]);
  const later = lines.reduce(withCharge, begun);
  assert.equal(shown(removeLine(later, context, prorating('2026-01-21')).lines), [
    '-35.48 100 M: 2026-01-21..2026-02-01',
    '-35.48 next: 2026-01-21..2026-02-01',
  ]);
});

test('more of a quantity that costs less is credited too: the whole quantity is at the rate of its tier', () => {
  const tiers = [
    { up_to: text('10'), unit_amount: text('10'), flat_amount: text('0') },
    { up_to: null, unit_amount: text('5'), flat_amount: text('0') },
  ];
  const terms = { model: 'volume', tiers, minimum_quantity: text('0'), price_unit: null } as const;
  const { lines } = changed(seats('10', '0', { terms }), '12', prorating('2026-01-16'));
  assert.equal(shown(lines), [
    '-51.61 0 M: 2026-01-16..2026-02-01',
    '+30.97 next: 2026-01-16..2026-02-01',
  ]);
});

test('D65 nothing is settled before the next boundary where nothing is prorated, and the charge goes on', () => {
  const { lines, begun } = changed(seats('1', '100'), '2', unprorated('2026-01-16'));
  assert.equal(lines, []);
  assert.is(begun.charged.length, 1);
  assert.equal(removeLine(begun, context, unprorated('2026-01-20')).lines, []);
});

test('a line that is free until the next period stays so at a lower quantity and another price', () => {
  const free = line('50 M', january, { start: at('2026-01-05'), quantity: text('5') });
  assert.equal(changed(free, '3', prorating('2026-01-16')).lines, []);
  const dearer = { ...line('80 M', january), line_item_id: lineId('next') };
  assert.equal(replaceLine(free, dearer, context, prorating('2026-01-16')).lines, []);
});

test('lines in arrears and of usage are only cut', () => {
  for (const kind of ['arrear', 'usage']) {
    const { lines, ended, begun } = changed(
      line(`50 M ${kind}`, january),
      '3',
      prorating('2026-01-16'),
    );
    assert.equal([lines, ended.end, begun.start], [[], at('2026-01-16'), at('2026-01-16')]);
  }
});

test('E 11.4 another price is settled on both sides, and keeps the periods of a longer line', () => {
  const quarter = charged(line('90 Q', january), context);
  const next = {
    ...line('180 Q', january, { start: at('2026-02-15') }),
    line_item_id: lineId('next'),
  };
  const february = periodOf(january, 1);
  const { lines, begun } = replaceLine(quarter, next, february, prorating('2026-02-15'));
  assert.equal(shown(lines), [
    '-45 90 Q: 2026-02-15..2026-04-01',
    '+90 next: 2026-02-15..2026-04-01',
  ]);
  assert.equal(begun.own, quarter.own);
});

for (const [written, proration, expected] of [
  ['31 M', 'create_prorations', ['+16 31 M: 2026-01-16..2026-02-01']],
  ['31 M', 'none', []],
  ['31 M arrear', 'create_prorations', []],
  ['1 M usage', 'create_prorations', []],
  ['90 Q', 'none', ['+90 90 Q: 2026-01-16..2026-04-16']],
  ['60 1', 'none', ['+60 60 1: 2026-01-16..2026-01-16']],
] as const) {
  test(`E 11.2 a line that is added in the middle of a month, ${written}, ${proration}`, () => {
    const added = line(written, january, { start: at('2026-01-16') });
    assert.equal(shown(addLine(added, context, proration)), expected);
  });
}

test('E 11.2 a line that is added at a boundary is charged whole; one of a later period when that opens', () => {
  assert.is(net(addLine(line('31 M', january), context, 'none')), '31');
  const later = line('31 M', january, { start: at('2026-02-01') });
  assert.equal(addLine(later, context, 'create_prorations'), []);
});

test('E 31 a line that is added and given back within a month, and the base that was billed whole', () => {
  const february = periodOf(rhythm('1 M', '2026-01-01'), 1);
  const added = line('28 M', january, { start: at('2026-02-15') });
  const lines = addLine(added, february, 'create_prorations');
  assert.equal(shown(lines), ['+14 28 M: 2026-02-15..2026-03-01']);
  const all = [lines.reduce(withCharge, added), charged(line('100 M', january), february)];
  const usage = line('1 M usage', january);
  assert.equal(shown(ending([...all, usage], february, prorating('2026-02-22'))), [
    'usage 1 M usage: 2026-02-01..2026-02-22',
    '-7 28 M: 2026-02-22..2026-03-01',
    '-25 100 M: 2026-02-22..2026-03-01',
  ]);
});

test('E 11.3 a line that ends later in the period is credited for what is after that, and not again', () => {
  const fee = seats('1', '31');
  const { lines, ended } = removeLine(fee, context, prorating('2026-01-22'));
  assert.equal(shown(lines), ['-10 31 M: 2026-01-22..2026-02-01']);
  const credited = {
    ...ended,
    charged: [{ ...fee.charged[0], credited: text('10') }],
  } as ChargedLine;
  assert.equal(shown(ending([credited], context, prorating('2026-01-12'))), [
    '-10 31 M: 2026-01-12..2026-02-01',
  ]);
  assert.equal(ending([credited], context, prorating('2026-01-25')), []);
});

const ending = (
  lines: readonly ChargedLine[],
  here: SettlementContext,
  change: Change,
  skips_arrears = false,
) => cancellationLines(lines, here, { ...change, skips_arrears });

test('E 10.7 600 a month in advance, 15 of 30 days used: 300 are credited', () => {
  const april = rhythm('1 M', '2026-04-01');
  const here = periodOf(april, 0);
  const fee = charged(line('600 M', april), here);
  assert.equal(shown(ending([fee], here, prorating('2026-04-16'))), [
    '-300 600 M: 2026-04-16..2026-05-01',
  ]);
  assert.equal(ending([fee], here, unprorated('2026-04-16')), []);
});

test('E 10.7 B what was used up to the end is billed, unless that is skipped; longer periods that have begun as well', () => {
  const lines = ['31 M arrear', '1 M usage', '90 Q arrear', '1 Q usage', '31 M', '90 Q']
    .map((each) => line(each, january))
    .map((each) => charged(each, context));
  const february = periodOf(january, 1);
  const opened = lines.map((each) => charged(each, february));
  const change = prorating('2026-02-15');
  assert.equal(shown(ending(opened, february, change)), [
    '+15.5 31 M arrear: 2026-02-01..2026-02-15',
    'usage 1 M usage: 2026-02-01..2026-02-15',
    '+45 90 Q arrear: 2026-01-01..2026-02-15',
    'usage 1 Q usage: 2026-01-01..2026-02-15',
    '-15.5 31 M: 2026-02-15..2026-03-01',
    '-45 90 Q: 2026-02-15..2026-04-01',
  ]);
  assert.equal(ending(opened, february, unprorated('2026-02-15'), true), []);
  assert.is(ending(opened, february, unprorated('2026-02-15')).length, 4);
});

test('an end between two periods credits the rest of longer lines, and nothing of a period that is over', () => {
  const lines = ['31 M', '90 Q'].map((each) => charged(line(each, january), context));
  const between = { ...context, window: span('2026-02-01', '2026-02-01') };
  assert.equal(shown(ending(lines, between, prorating('2026-02-01'))), [
    '-59 90 Q: 2026-02-01..2026-04-01',
  ]);
});

test('a line that has ended unprorated is not credited by the end of all', () => {
  const { ended } = removeLine(seats('1', '31'), context, unprorated('2026-01-10'));
  assert.equal(ending([ended], context, prorating('2026-01-10')), []);
  assert.equal(ending([ended], context, prorating('2026-01-16')), []);
});

test('a trial that ends early owes nothing', () => {
  const trial = { ...context, window: span('2026-01-01', '2026-01-15') };
  const lines = ['31 M', '1 M usage'].map((each) =>
    line(each, january, { start: at('2026-01-15') }),
  );
  assert.equal(ending(lines, trial, prorating('2026-01-10')), []);
});

test('E 10.6 a pause makes the period longer, takes usage in it out, and moves the periods of longer lines', () => {
  const pause = span('2026-04-11', '2026-04-16');
  const april = rhythm('1 M', '2026-04-01');
  assert.equal(
    lengthened(span('2026-04-01', '2026-05-01'), pause),
    span('2026-04-01', '2026-05-06'),
  );
  const month = span('2026-04-01', '2026-05-06');
  const here = { ...periodOf(april, 0), window: month, whole: month, pauses: [pause] };
  const lines = ['30 M arrear', '1 M usage'].map((each) => line(each, april));
  const [fixed, usage] = ending(lines, here, prorating('2026-05-06'));
  assert.equal(shown(fixed ? [fixed] : []), ['+30 30 M arrear: 2026-04-01..2026-05-06']);
  assert.equal(usage?.kind === 'usage' ? [usage.span, usage.excluded] : [], [month, [pause]]);
  const quarter = afterPause(line('90 Q', april), pause, 'UTC');
  assert.equal(quarter.own, { anchor: at('2026-07-06'), first: span('2026-04-01', '2026-07-06') });
});

test('a longer period in arrears that is broken off right where a period begins is billed by what breaks it off', () => {
  const february = periodOf(january, 1);
  const quarter = line('90 Q arrear', january);
  const billed = ['+31 90 Q arrear: 2026-01-01..2026-02-01'];
  const change = unprorated('2026-02-01');
  assert.equal(shown(ending([quarter], february, change)), billed);
  assert.equal(shown(removeLine(quarter, february, change).lines), billed);
  assert.equal(shown(changed(quarter, '2', change, february).lines), billed);
  // The close of January knew of this end, and has billed it.
  const ended = { ...quarter, end: at('2026-02-01') };
  assert.equal(ending([ended], february, change), []);
});

test.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { closingLines, type SettlementContext } from './boundaries.ts';
import { cancellationLines, removeLine } from './changes.ts';
import type { ChargedCommitment } from './commitments.ts';
import { at, line, periodOf, periodWith, rhythm, shown, text } from './test-lines.ts';

const test = suite('commitments in settlements');

const monthly = rhythm('1 M', '2026-01-01');

/** Sixty, at a factor of two, trued up, for each period or for the terms of a duration. */
const sixty = (more: Partial<ChargedCommitment> = {}): ChargedCommitment => ({
  committed: text('60'),
  overage_factor: text('2'),
  true_up: true,
  duration: null,
  since: at('2026-01-01'),
  end: null,
  ...more,
});

const committed = (context: SettlementContext, more: Partial<ChargedCommitment> = {}) => ({
  ...context,
  commitment: sixty(more),
});

const usage = (more: Parameters<typeof line>[2] = {}) => line('1 M usage', monthly, more);

test('usage of a period comes with what it is held against', () => {
  const lines = closingLines([usage({ commitment: sixty() })], periodOf(monthly, 1));
  assert.equal(shown(lines), [
    'usage 1 M usage: 2026-02-01..2026-03-01',
    'commitment 1 M usage: 60 ×2 trued up 2026-02-01..2026-03-01',
  ]);
  assert.equal(shown(closingLines([usage()], committed(periodOf(monthly, 1)))), [
    'usage 1 M usage: 2026-02-01..2026-03-01',
    'commitment all: 60 ×2 trued up 2026-02-01..2026-03-01',
  ]);
});

/** The commitments among the lines that are billed, without their names. */
const held = (lines: Parameters<typeof shown>[0]): string[] =>
  shown(lines.filter(({ kind }) => kind === 'commitment')).map((text) => text.replace(/^.*: /, ''));

const calendar = rhythm('1 M', '2026-01-20', '2026-02-01');

for (const [name, prorates, expected] of [
  // 12 of 31 days: 60 × 12 ÷ 31 = 23.2258…
  ['prorated, it is its part of the whole period', true, '23.23'],
  ['not prorated, it is whole', false, '60'],
] as const) {
  test(`a short first period: ${name}`, () => {
    const context = periodOf(calendar, 0, prorates);
    const stretch = '2026-01-20..2026-02-01';
    const own = line('1 M usage', calendar, { commitment: sixty({ since: calendar.start }) });
    assert.equal(held(closingLines([own], context)), [`${expected} ×2 trued up ${stretch}`]);
    const all = committed(context, { since: calendar.start });
    assert.equal(held(closingLines([], all)), [`${expected} ×2 trued up ${stretch}`]);
  });
}

test('a line that begins or ends within a period is committed for its part', () => {
  const since = at('2026-01-16');
  const late = usage({ start: since, commitment: sixty({ since }) });
  const first = periodOf(monthly, 0, false);
  // 16 of 31 days: 30.9677…
  assert.equal(held(closingLines([late], first)), ['30.97 ×2 trued up 2026-01-16..2026-02-01']);
  const early = usage({ end: at('2026-01-16'), commitment: sixty() });
  // 15 of 31 days: 29.0322…
  assert.equal(held(closingLines([early], first)), ['29.03 ×2 trued up 2026-01-01..2026-01-16']);
});

test('a term is held whole, and trued up with its last period, term after term', () => {
  const quarterly = sixty({ duration: 'QUARTERLY' });
  const found = [0, 1, 2, 3, 4, 5].flatMap((index) =>
    held(closingLines([usage({ commitment: quarterly })], periodOf(monthly, index))),
  );
  assert.equal(found, [
    '60 ×2 2026-01-01..2026-04-01',
    '60 ×2 2026-01-01..2026-04-01',
    '60 ×2 trued up 2026-01-01..2026-04-01',
    '60 ×2 2026-04-01..2026-07-01',
    '60 ×2 2026-04-01..2026-07-01',
    '60 ×2 trued up 2026-04-01..2026-07-01',
  ]);
});

test('a term that ends in between is committed for its part', () => {
  const quarterly = { duration: 'QUARTERLY' } as const;
  const ended = usage({ end: at('2026-02-15'), commitment: sixty(quarterly) });
  // 45 of 90 days.
  const half = ['30 ×2 trued up 2026-01-01..2026-02-15'];
  assert.equal(held(closingLines([ended], periodOf(monthly, 1))), half);
  const cancelled = { at: at('2026-02-15'), proration: 'none', skips_arrears: false } as const;
  const context = committed(periodOf(monthly, 1), quarterly);
  assert.equal(held(cancellationLines([usage()], context, cancelled)), half);
  const skipped = cancellationLines([usage()], context, { ...cancelled, skips_arrears: true });
  assert.equal(held(skipped), []);
});

test('a term whose end was not known when its last period was closed is trued up by itself', () => {
  const quarterly = { duration: 'QUARTERLY' } as const;
  const end = { at: at('2026-03-01'), proration: 'none' } as const;
  const march = periodWith(monthly, '2026-03-01');
  // 59 of 90 days: 39.33…
  const rest = ['39.33 ×2 trued up 2026-01-01..2026-03-01'];
  const removed = removeLine(usage({ commitment: sixty(quarterly) }), march, end);
  assert.equal(held(removed.lines), rest);
  const all = cancellationLines([usage()], committed(march, quarterly), {
    ...end,
    skips_arrears: false,
  });
  assert.equal(held(all), rest);
  // One that ends with its term has been trued up.
  const april = periodWith(monthly, '2026-04-01');
  const late = { ...end, at: at('2026-04-01') };
  assert.equal(held(removeLine(usage({ commitment: sixty(quarterly) }), april, late).lines), []);
});

test('nothing is held against the time before a commitment, as that of a trial', () => {
  const context = committed(periodOf(monthly, 0), { since: at('2026-02-01') });
  assert.equal(held(closingLines([], context)), []);
});

test('time in a pause is no part of a period', () => {
  const window = { start: at('2026-04-01'), end: at('2026-05-06') };
  const pauses = [{ start: at('2026-04-11'), end: at('2026-04-16') }];
  const context = { ...periodOf(monthly, 3), window, whole: window, pauses };
  assert.equal(held(closingLines([usage({ commitment: sixty() })], context)), [
    '60 ×2 trued up 2026-04-01..2026-05-06',
  ]);
  // 15 of 30 days.
  const ended = usage({ end: at('2026-04-21'), commitment: sixty() });
  assert.equal(held(closingLines([ended], context)), ['30 ×2 trued up 2026-04-01..2026-04-21']);
});

test.run();

import { decimal, type Instant, spread, textOf, zero } from '@counterfoil/kernel';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Cell, cellsOf, weightsOf } from './cost-weights.ts';
import type { GroupQuestion } from './usage-in-groups.ts';

const test = suite('weights of costs');

const cell = (quantity: string | null, events: number): Cell => ({
  group: [],
  start: null,
  quantity: quantity === null ? null : decimal(quantity),
  events: decimal(String(events)),
});

const weights = (cells: readonly Cell[], all?: readonly Cell[]): readonly string[] =>
  weightsOf(cells, all).map(textOf);

test('quantities weigh, and what corrections take below zero weighs nothing', () => {
  assert.equal(weights([cell('2', 9), cell('0.5', 1)]), ['2', '0.5', '0']);
  assert.equal(weights([cell('2', 9), cell('-1', 1)]), ['2', '0', '0']);
});

test('what a filter leaves out has the rest', () => {
  assert.equal(weights([cell('2', 1)], [cell('10', 4)]), ['2', '8']);
  assert.equal(weights([], [cell('10', 4)]), ['10']);
});

test('events weigh where quantities do not add up, or are nothing', () => {
  assert.equal(weights([cell(null, 3), cell(null, 1)], [cell(null, 6)]), ['3', '1', '2']);
  assert.equal(weights([cell('0', 3), cell('0', 1)]), ['3', '1', '0']);
  assert.equal(weights([]), ['0']);
});

test('a mean level weighs as long as its window lasts', () => {
  const span = { start: '2026-01-01T00:00:00.000Z', end: '2026-01-02T06:00:00.000Z' };
  const question = {
    aggregation: { type: 'WEIGHTED_SUM' },
    windows: { size: 'DAY', zone: 'UTC' },
    span,
  } as unknown as GroupQuestion;
  const window = (start: string, value: string) => ({ start: start as Instant, value, events: 1 });
  const windows = [
    window('2026-01-01T00:00:00.000Z', '2'),
    window('2026-01-02T00:00:00.000Z', '4'),
  ];
  const groups = [{ group: ['a'], value: '2.4', events: 2, windows }];
  const cells = cellsOf(question, groups as unknown as Parameters<typeof cellsOf>[1]);
  const hour = 3_600_000;
  assert.equal(weights(cells), [`${48 * hour}`, `${24 * hour}`, '0']);
});

test('shares of an amount add up to it, whatever the weights are', () => {
  const quantities = fc.option(fc.integer({ min: -500, max: 500 }).map(String));
  const cells = fc.array(fc.tuple(quantities, fc.nat({ max: 50 })).map(([q, n]) => cell(q, n)));
  const amounts = fc.integer({ min: -99_999, max: 99_999 });
  const run = fc.property(cells, cells, amounts, (some, others, cents) => {
    const own = weightsOf(some, [...some, ...others]);
    if (own.every((weight) => weight.cmp(zero) === 0)) return;
    const amount = textOf(decimal(`${cents}e-2`));
    const parts = spread(amount, own, 'usd' as Parameters<typeof spread>[2]);
    assert.is(textOf(parts.reduce((sum, part) => sum.plus(decimal(part)), zero)), amount);
  });
  void fc.assert(run);
});

test.run();

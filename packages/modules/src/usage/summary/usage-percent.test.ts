import { decimal } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { usagePercent } from './usage-percent.ts';

const test = suite('usage in percent');

for (const [used, limit, percent] of [
  ['0', 100, '0'],
  ['50', 100, '50'],
  ['100', 100, '100'],
  ['250.5', 100, '250.5'],
  ['1', 3, '33.33'],
  ['2', 3, '66.67'],
  ['0.125', 1_000, '0.01'],
  ['0.05', 1_000, '0'],
  ['0.15', 1_000, '0.02'],
  ['0.00001', 1_000, '0'],
  ['0', 0, '0'],
  ['0.001', 0, '100'],
  ['-5', 100, '0'],
  ['-5', 0, '0'],
  ['1', Number.MAX_SAFE_INTEGER, '0'],
] as const) {
  test(`${used} of ${limit} is ${percent}`, () =>
    assert.is(usagePercent(decimal(used), limit), percent));
}

test.run();

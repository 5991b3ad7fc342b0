import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { nonNegativePercentageSchema, positivePercentageSchema } from './decimal.ts';

const test = suite('percentages');

for (const [text, isPositive, isPercentage] of [
  ['0', false, true],
  ['0.0000000001', true, true],
  ['0.00000000001', false, false],
  ['12.50', true, true],
  ['0099.9', true, true],
  ['100', true, true],
  ['100.00', true, true],
  ['100.01', false, false],
  ['101', false, false],
  ['1000', false, false],
  ['-1', false, false],
] as const) {
  test(`${text} is taken where its document takes it`, () => {
    const schemas = [
      [positivePercentageSchema(), isPositive],
      [nonNegativePercentageSchema(), isPercentage],
    ] as const;
    for (const [schema, expected] of schemas) {
      const { pattern = '' } = z.globalRegistry.get(schema) as { readonly pattern?: string };
      assert.is(schema.safeParse(text).success, expected);
      assert.is(new RegExp(pattern).test(text), expected, pattern);
      assert.is(schema.safeParse(Number(text)).success, expected);
    }
  });
}

test.run();

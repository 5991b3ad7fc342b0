import { canonicalJson } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tracesOf } from './property-traces.ts';

const test = suite('traces of properties');

const values = fc.oneof(
  fc.constantFrom<unknown>(
    'large',
    '7',
    7,
    1e21,
    1e-7,
    -2.5,
    true,
    false,
    null,
    'a"b\\',
    '\u0000',
    {
      b: [1, 'x'],
      10: 'y',
    },
  ),
  fc.string({ maxLength: 4 }),
  fc.jsonValue({ maxDepth: 1 }),
);
/** The text that PostgreSQL has of a property. */
const textOf = (value: unknown): string | null =>
  typeof value === 'string' ? value : value == null ? null : canonicalJson(value);
const names = fc.constantFrom('model', 'the "model"', 'ü');

test('what has a property has one of the traces of a filter by its value', () => {
  fc.assert(
    fc.property(fc.dictionary(names, values), (properties) => {
      const stored = canonicalJson(properties);
      for (const [key, value] of Object.entries(properties)) {
        const text = textOf(value);
        const found = text === null ? [stored] : tracesOf({ key, values: [text] });
        const told = `${stored} has none of ${found.join(' or ')}`;
        assert.ok(
          found.some((trace) => stored.includes(trace)),
          told,
        );
      }
    }),
    { numRuns: 500 },
  );
});

test('many values have no traces that are worth to be looked for', () => {
  assert.equal(tracesOf({ key: 'model', values: ['a', 'b'] }), ['"model":"a"', '"model":"b"']);
  assert.equal(tracesOf({ key: 'model', values: ['7'] }), ['"model":"7"', '"model":7']);
  assert.equal(tracesOf({ key: 'model', values: ['a', 'b', 'c', 'd', 'e'] }), []);
});

test.run();

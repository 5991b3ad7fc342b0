import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { expressionFault } from './expression.ts';

const test = suite('meter expression properties');

const parts = fc.constantFrom(
  ...['a', 'b', '1', '0.5', '1e3', '+', '-', '*', '/', '%', '<', '==', '&&', '||', '!', '?', ':'],
  ...[
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    ',',
    '.',
    '"',
    "'",
    'max(',
    'ceil(',
    'true',
    'null',
    'in',
    '\\',
  ],
  ...['r"', 'b"', '0x', '1u', '"\\u{', '"\\x', '1e999', '//', '\n', ' ', 'cel', '__proto__', '😀'],
);

test('whatever the text is, the answer is that it is fine or what is wrong with it', () =>
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.array(parts, { maxLength: 24 }).map((some) => some.join('')),
      ),
      (text) => {
        const fault = expressionFault(text);
        assert.ok(fault === null || fault.length > 0);
      },
    ),
    { numRuns: 5_000 },
  ));

/** Expressions of numbers, and of comparisons, as the language has them. */
const { number } = fc.letrec<{ number: string; truth: string }>((tie) => ({
  number: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('a', 'b', 'tokens_in', '1', '0.25'),
    fc
      .tuple(tie('number'), fc.constantFrom('+', '-', '*', '/'), tie('number'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    tie('number').map((inner) => `(-${inner})`),
    fc
      .tuple(fc.constantFrom('abs', 'ceil', 'round'), tie('number'))
      .map(([name, inner]) => `${name}(${inner})`),
    fc
      .tuple(fc.constantFrom('min', 'max', 'pow'), tie('number'), tie('number'))
      .map(([name, left, right]) => `${name}(${left}, ${right})`),
    fc
      .tuple(tie('truth'), tie('number'), tie('number'))
      .map(([condition, then, otherwise]) => `(${condition} ? ${then} : ${otherwise})`),
  ),
  truth: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('true', 'a > 1'),
    fc
      .tuple(tie('number'), fc.constantFrom('<', '>=', '=='), tie('number'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    fc
      .tuple(tie('truth'), fc.constantFrom('&&', '||'), tie('truth'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    tie('truth').map((inner) => `!(${inner})`),
  ),
}));

test('every expression of the language that names a property and is not too large is taken', () =>
  fc.assert(
    fc.property(number, (inner) => {
      const text = `a + ${inner}`;
      // What is too large is refused for its size; the limits have tests of their own.
      const isSmall = text.length < 400 && (text.match(/\(/g)?.length ?? 0) < 20;
      assert.is(isSmall ? expressionFault(text) : null, null, text);
    }),
    { numRuns: 1_000 },
  ));

test.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { expressionFault } from './expression.ts';

const test = suite('meter expressions');

const good = [
  'tokens',
  'ceil(seconds/60)',
  'floor(min(a, b) * c)',
  'duration <= 10 ? 0 : ceil(duration / 15) * 15',
  '-a + 0.25 * b / 3',
  'a > 1 && !(b == 2) || c != 0 ? pow(a, 2) : abs(b)',
  'true ? a : b',
  'max(a, b, 1.5e3)',
  'round(sqrt(log(a)))',
];

for (const text of good) {
  test(`takes ${text}`, () => assert.is(expressionFault(text), null));
}

const bad: readonly [string, RegExp][] = [
  ['', /cannot be read/],
  ['a +', /cannot be read/],
  ['a % 2', /a % 2 is not part of the language/],
  ['60', /must name a property/],
  ['max(1, 2)', /must name a property/],
  ['a > 1', /must give a number and not a comparison/],
  ['a ? 1 : 2', /a must be a comparison/],
  ['a > 1 ? a : b > 2', /b > 2 must be a number/],
  ['a + (b > 1)', /must be a number/],
  ['!a', /a must be a comparison/],
  ['a && b', /must be a comparison/],
  ['true + a', /true must be a number/],
  ['a == "x" ? 1 : a', /literals other than numbers/],
  ['a == null ? 1 : a', /literals other than numbers/],
  ['1u + a', /literals other than numbers/],
  ['a.b', /a\.b is not part of the language/],
  ['a["b"]', /is not part of the language/],
  ['[a, b]', /is not part of the language/],
  ['{"x": a}', /is not part of the language/],
  ['a.max(b)', /is not part of the language/],
  ['has(a.b)', /has is not one of max, min/],
  ['size(a)', /size is not one of/],
  ['constructor(a)', /constructor is not one of/],
  ['max(a)', /max takes 2 to 16 arguments and not 1/],
  ['pow(a, 2, 3)', /pow takes 2 arguments and not 3/],
  ['ceil()', /ceil takes 1 arguments and not 0/],
  [`${'('.repeat(60)}a${')'.repeat(60)}`, /cannot be read/],
  [Array(300).fill('a').join('+'), /cannot be read/],
];

for (const [text, fault] of bad) {
  test(`refuses ${text.slice(0, 40) || 'nothing'}`, () =>
    assert.match(expressionFault(text) ?? 'no fault', fault));
}

test.run();

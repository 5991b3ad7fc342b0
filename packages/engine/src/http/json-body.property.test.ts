import { decimal, Problem } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseJsonBody } from './json-body.ts';

const test = suite('JSON bodies');

const parse = (text: string): unknown => parseJsonBody(Buffer.from(text));

const refusal = (text: string): string | null => {
  try {
    parse(text);
    return null;
  } catch (error) {
    assert.instance(error, Problem);
    return (error as Problem).message;
  }
};

const storable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

test('takes every JSON value that can be stored as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!text.includes('\\u0000') && !text.includes('__proto__'));
      assert.equal(parse(text), JSON.parse(text));
    }),
  );
});

test('refuses a text exactly when it cannot be stored, as a value and as a key', () => {
  const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 });
  fc.assert(
    fc.property(units, (codes) => {
      const text = String.fromCharCode(...codes);
      const asValue = JSON.stringify({ member: [text] });
      const asKey = JSON.stringify({ [text]: 1 });
      assert.is(refusal(asValue) === null, storable(text));
      assert.is(refusal(asKey) === null, storable(text));
    }),
  );
});

test('refuses a number exactly when parsing would change it', () => {
  const literal = fc
    .tuple(
      fc.boolean(),
      fc.bigInt({ min: 0n, max: 10n ** 22n }),
      fc.option(fc.bigInt({ min: 0n, max: 10n ** 12n })),
    )
    .map(
      ([negative, whole, part]) =>
        `${negative ? '-' : ''}${whole}${part === null ? '' : `.${part}`}`,
    );
  fc.assert(
    fc.property(literal, fc.string(), (number, neighbour) => {
      fc.pre(storable(neighbour));
      const body = `{"text":${JSON.stringify(`1234567890.1234567890 ${neighbour}`)},"n":${number}}`;
      const isExact = decimal(number).eq(decimal(String(Number(number))));
      assert.is(refusal(body) === null, isExact);
    }),
    { numRuns: 500 },
  );
});

test('refuses numbers that are too small to be told from zero', () => {
  assert.match(refusal('[1e-400]') ?? '', /1e-400 exactly/);
  assert.is(refusal('[1e-300, 1E+21, -0, 0.1]'), null);
});

test('takes 64 levels and refuses 65', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  assert.is(refusal(nested(64)), null);
  assert.match(refusal(nested(65)) ?? '', /64 levels/);
  assert.match(refusal(nested(100_000)) ?? '', /64 levels/);
});

test('takes 100,000 values and refuses more, before it builds them', () => {
  const lists = (count: number) =>
    `[${Array.from({ length: count }, () => '[1,2,3,4,5,6,7]').join()}]`;
  assert.is(refusal(lists(9_999)), null);
  assert.match(
    refusal(`[${Array.from({ length: 13 }, () => lists(1_000)).join()}]`) ?? '',
    /100000 values/,
  );
  // What is not well-formed either is refused for the first of both.
  assert.match(refusal('[,'.repeat(100_000)) ?? '', /100000 values/);
});

test('counts no commas and brackets within texts', () => {
  const text = ',[{\\"'.repeat(50_000);
  assert.equal(parse(JSON.stringify([text, 1])), [text, 1]);
});

test('takes a byte order mark for what it is', () => {
  assert.equal(parse('\ufeff{"a":1}'), { a: 1 });
});

test('drops members called __proto__, at every level', () => {
  const value = parse('{"__proto__":{"x":1},"a":[{"__proto__":{"x":1},"b":2}]}');
  assert.is(JSON.stringify(value), '{"a":[{"b":2}]}');
});

test.run();

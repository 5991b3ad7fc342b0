import { decimal, Problem } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseJsonBody } from './json-body.ts';
import { jsonLimits } from './limits.ts';
import { atOnce } from './pieces.ts';

const test = suite('JSON bodies');

const parse = (text: string): unknown => atOnce(parseJsonBody(Buffer.from(text)));

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

test('takes 100,000 values and refuses more', () => {
  const lists = (count: number) =>
    `[${Array.from({ length: count }, () => '[1,2,3,4,5,6,7]').join()}]`;
  assert.is(refusal(lists(9_999)), null);
  assert.match(
    refusal(`[${Array.from({ length: 13 }, () => lists(1_000)).join()}]`) ?? '',
    /100000 values/,
  );
});

test('takes as many values and long numbers as a route allows, and refuses more', () => {
  const most = { values: 20, longNumbers: 3 };
  const outcomeOf = (text: string): string | null => {
    try {
      atOnce(parseJsonBody(Buffer.from(text), most));
      return null;
    } catch (error) {
      return (error as Problem).message;
    }
  };
  const list = (length: number, item: string) => `[${Array.from({ length }, () => item).join()}]`;
  assert.is(outcomeOf(list(20, '1')), null);
  assert.match(outcomeOf(list(21, '1')) ?? '', /at most 20 values/);
  assert.is(outcomeOf(list(3, '0.30000000000000004')), null);
  assert.match(outcomeOf(list(4, '0.30000000000000004')) ?? '', /more than 3 long numbers/);
});

/** The value of a text that is cut into pieces of about so many bytes as JSON, or the pointer to what is refused. */
function outcome(text: string, pieceBytes: number): string {
  try {
    return JSON.stringify(atOnce(parseJsonBody(Buffer.from(text), jsonLimits, pieceBytes)));
  } catch (error) {
    assert.instance(error, Problem);
    const [{ pointer, message } = { pointer: null, message: '' }] = (error as Problem).errors ?? [];
    return `${pointer}: ${message}`;
  }
}

/** The value as the runtime parses it. */
function expected(text: string): string {
  try {
    return JSON.stringify(
      JSON.parse(text, (key, value) => (key === '__proto__' ? undefined : value)),
    );
  } catch {
    return ': the body must be well-formed JSON';
  }
}

/** JSON with white space, escapes, brackets in texts, `__proto__`, names that come twice and numbers as names. */
const anyText = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom('1', '-0.5e1', 'true', 'null', '""', '"]"', '"\\\\"', '"\\",{"', '"é"'),
    fc
      .array(fc.tuple(tie('space'), tie('value'), tie('space')).map((all) => all.join('')))
      .map((items) => `[${items.join()}]`),
    fc
      .array(
        fc
          .tuple(
            tie('space'),
            tie('name'),
            tie('space'),
            fc.constant(':'),
            tie('value'),
            tie('space'),
          )
          .map((all) => all.join('')),
      )
      .map((members) => `{${members.join()}}`),
  ),
  name: fc.constantFrom('"a"', '"b"', '""', '"2"', '"1"', '"__proto__"', '"\\u0061"', '"\\n"'),
  space: fc.constantFrom('', '', ' ', '\n\t'),
})).value as fc.Arbitrary<string>;

/** A text, or one of which a little is missing, too much or something else. */
const maybeBroken = fc
  .tuple(
    anyText,
    fc.nat(),
    fc.nat(2),
    fc.constantFrom('', '', ',', ']', '}', '[', '{', ':', '1', '"'),
  )
  .map(([text, at, missing, more]) => {
    const place = at % (text.length + 1);
    return more === '' ? text : text.slice(0, place) + more + text.slice(place + missing);
  });

test('a text has the value that it has as JSON, however small the pieces are, and all else is refused', () => {
  fc.assert(
    fc.property(maybeBroken, fc.integer({ min: 0, max: 40 }), (text, pieceBytes) => {
      assert.is(outcome(text, pieceBytes), expected(text));
    }),
    { numRuns: 5_000 },
  );
});

for (const [text, refused] of [
  [
    '{"a":[1,{"b":["x","\\u0000"]}],"c":1}',
    '/a/1/b/1: must not contain the NUL character (U+0000)',
  ],
  ['{"a":[1,2,3,[4,5,1e400]]}', '/a/3/2: must be a number that is not so large'],
  ['[[],{},{"a":{"\\udc00":[[1,2],3]}}]', '/2/a: must have no key with a NUL'],
  [`{"a":[1,{"b":${'['.repeat(62)}]}]}`, `/a/1/b${'/0'.repeat(61)}: must not be nested deeper`],
  [`{"a":[1,{"b":[${'1,'.repeat(10_000)}1]}]}`, '/a/1/b: must have at most 10000 items'],
  [`[{"a":{${'"b":[],'.repeat(1_001)}}}]`, '/0/a: must have at most 1000 members'],
] as const) {
  test(`the pointer of what is refused is the same in pieces: ${refused.slice(0, 40)}`, () => {
    for (const pieceBytes of [0, 1, 5, 20, 1_000, Number.POSITIVE_INFINITY]) {
      assert.is(outcome(text, pieceBytes).slice(0, refused.length), refused);
    }
  });
}

test('numbers that are long are counted in all pieces', () => {
  const text = `[${Array.from({ length: 1_001 }, () => '1e-300').join()}]`;
  for (const pieceBytes of [10, 1_000])
    assert.match(outcome(text, pieceBytes), /1000 long numbers/);
});

test('a body as large as there are is parsed in pieces', () => {
  const entries = Array.from({ length: 1_000 }, (_, index) => ({ index, text: 'x'.repeat(1_000) }));
  const work = parseJsonBody(Buffer.from(JSON.stringify({ entries })));
  let pauses = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) pauses += 1;
  assert.ok(pauses > 25, `${pauses} pauses`);
  assert.equal(step.value, { entries });
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

import { decimalSchema, instantSchema, metadataSchema } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { listParameter, listShape, searchShape } from '../define/listing.ts';
import { describeIssue, fieldProblemsOf, maximumFieldProblems, pointerOf } from './issues.ts';

const test = suite('messages of validation issues');

const problemsOf = (schema: z.ZodType, input: unknown) => {
  const parsed = z.compile(schema).safeParse(input, { error: describeIssue });
  return fieldProblemsOf(parsed.error?.issues ?? []);
};

const number = z.number();
const list = z.object(listShape);

for (const [schema, input, message] of [
  [z.string(), undefined, 'is required'],
  [z.string(), null, 'must be a string'],
  [z.boolean(), 'yes', 'must be true or false'],
  [z.array(z.string()), {}, 'must be an array'],
  [z.record(z.string(), z.string()), [], 'must be an object'],
  [z.int(), 1.5, 'must be an integer'],
  [z.string().min(1), '', 'must not be empty'],
  [z.string().min(3), 'a', 'must have at least 3 characters'],
  [z.string().max(1), 'ab', 'must have at most 1 character'],
  [z.string().length(2), 'abc', 'must have exactly 2 characters'],
  [z.array(z.string()).max(2), ['a', 'b', 'c'], 'must have at most 2 items'],
  [number.min(1), 0, 'must be at least 1'],
  [number.max(9), 10, 'must be at most 9'],
  [number.gt(0), 0, 'must be greater than 0'],
  [number.lt(5), 5, 'must be less than 5'],
  [number.multipleOf(5), 7, 'must be a multiple of 5'],
  [z.enum(['asc', 'desc']), 'up', 'must be "asc" or "desc"'],
  [z.literal(['a', 'b', 'c']), 'd', 'must be "a", "b" or "c"'],
  [z.email(), 'x', 'must be an e-mail address'],
  [z.string().regex(/^x$/), 'y', 'must be of the form /^x$/'],
  [z.strictObject({}), { a: 1 }, 'must not have a'],
  [z.string().refine(() => false, 'must be nice'), 'a', 'must be nice'],
  [z.string().refine(() => false), 'a', 'is not valid'],
  [z.union([z.string(), number]), true, 'must be a string or a number'],
  [z.union([z.string(), number]), undefined, 'is required'],
  [z.union([z.string().max(2), number]), 'abc', 'must have at most 2 characters'],
  [decimalSchema(9), '1.0000000001', 'must have at most 9 fraction digits'],
  [decimalSchema(9), 'x', 'must be a decimal such as "12.5"'],
  [decimalSchema(9), {}, 'must be a string or a number'],
  [instantSchema, '2026-02-30T00:00:00Z', 'must be an RFC 3339 date-time'],
] as const) {
  test(`says "${message}" about ${JSON.stringify(input)}`, () => {
    assert.equal(problemsOf(schema, input), [{ pointer: '', message }]);
  });
}

for (const [query, pointer, message] of [
  [{ limit: '0' }, '/limit', 'must be at least 1'],
  [{ limit: 'x' }, '/limit', 'must be an integer'],
  [{ limit: ['1', '2'] }, '/limit', 'must be a number or a string'],
  [{ offset: '-1' }, '/offset', 'must be at least 0'],
  [{ order: 'up' }, '/order', 'must be "asc" or "desc"'],
] as const) {
  test(`points into a list request: ${JSON.stringify(query)}`, () => {
    assert.equal(problemsOf(list, query), [{ pointer, message }]);
  });
}

test('a wrong item of a list parameter is named by its index', () => {
  const schema = z.object({ types: listParameter(z.enum(['a', 'b'])) });
  assert.equal(problemsOf(schema, { types: 'a,x' }), [
    { pointer: '/types/1', message: 'must be "a" or "b"' },
  ]);
});

test('a wrong key is named, and why', () => {
  const key = 'k'.repeat(65);
  assert.equal(problemsOf(z.object({ metadata: metadataSchema }), { metadata: { [key]: 'v' } }), [
    { pointer: `/metadata/${key}`, message: 'as a key must have at most 64 characters' },
  ]);
});

test('an unknown kind names the ones there are', () => {
  const schema = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a') }),
    z.object({ kind: z.literal('b'), size: number }),
  ]);
  assert.equal(problemsOf(schema, { kind: 'c' }), [
    { pointer: '/kind', message: 'must be "a" or "b"' },
  ]);
  assert.equal(problemsOf(schema, { kind: 'b' }), [{ pointer: '/size', message: 'is required' }]);
});

test('of a union with fixed values it names the place inside the branch that has the type', () => {
  const schema = z.union([z.enum(['a']), z.array(z.object({ field: z.enum(['a']) }))]);
  assert.equal(problemsOf(schema, ['b']), [{ pointer: '/0', message: 'must be an object' }]);
  assert.equal(problemsOf(schema, 'b'), [{ pointer: '', message: 'must be "a"' }]);
});

test('the value itself is never repeated', () => {
  const said = JSON.stringify(problemsOf(z.enum(['a']), 'sk_secret'));
  assert.not.match(said, /sk_secret/);
});

test('names a bounded number of places', () => {
  const schema = z.array(z.string());
  const input = Array.from({ length: maximumFieldProblems + 1 }, () => 1);
  assert.is(problemsOf(schema, input).length, maximumFieldProblems);
});

test('escapes the keys of a pointer', () => {
  assert.is(pointerOf(['a/b', 'c~d', 0, '']), '/a~1b/c~0d/0/');
  assert.is(pointerOf([]), '');
});

test('values of filters are counted before they are looked at', () => {
  const filter = (count: number) => ({
    field: 'id',
    operator: 'in',
    value: { array: Array.from({ length: count }, () => null) },
  });
  const filters = Array.from({ length: 50 }, () => filter(1_000));
  const message = 'must have at most 1000 values in all';
  assert.equal(problemsOf(z.object(searchShape), { filters }), [{ pointer: '/filters', message }]);
  const few = problemsOf(z.object(searchShape), { filters: [filter(2), null] });
  assert.equal(
    few.map(({ pointer }) => pointer),
    ['/filters/0/value/array/0', '/filters/0/value/array/1', '/filters/1'],
  );
});

test.run();

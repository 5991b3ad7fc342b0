import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { unused } from '../define/unused.ts';
import { finderOf } from './known-names.ts';

const test = suite('names that a request may have');

const tier = z.object({ up_to: z.number().nullish(), amount: z.string() });
const move = z.discriminatedUnion('type', [
  z.object({ type: z.literal('load'), credits: z.string(), bonus: z.string().optional() }),
  z.object({ type: z.literal('draw'), credits: z.string() }),
]);
const schema = z
  .object({
    name: z.string(),
    note: z.string().optional(),
    cleared: z.string().nullable().optional(),
    kind: z.enum(['A']).default('A'),
    tiers: z.array(tier).optional(),
    moves: z.array(move).nullish(),
    byName: z.record(z.string(), tier).default({}),
    metadata: z.record(z.string(), z.string()).optional(),
    old: unused,
  })
  .superRefine(() => {});

const find = finderOf(schema);
const found = (value: unknown): string[] =>
  (find?.(value)?.superfluous ?? []).map(({ path, why }) => `${path.join('/')}: ${why}`);

for (const [what, value, expected] of [
  ['nothing', { name: 'a', metadata: { any: 'thing' } }, []],
  ['an unknown member', { name: 'a', nmae: 'b' }, ['nmae: unknown']],
  ['a member without effect', { name: 'a', old: { any: 1 } }, ['old: unused']],
  [
    'null for a member that may be left out',
    { note: null, kind: null },
    ['note: absent', 'kind: absent'],
  ],
  ['null that says something', { cleared: null, moves: null }, []],
  ['null for a required member', { name: null }, []],
  ['items of a list', { tiers: [{}, { upto: 1 }] }, ['tiers/1/upto: unknown']],
  ['values of a map', { byName: { x: { y: 1 } } }, ['byName/x/y: unknown']],
  [
    'a member of another kind',
    {
      moves: [
        { type: 'load', bonus: null },
        { type: 'draw', bonus: '1' },
      ],
    },
    ['moves/0/bonus: absent', 'moves/1/bonus: unknown'],
  ],
  ['another type', [{ name: 1 }], []],
] as const) {
  test(`finds ${what}`, () => {
    assert.equal(found(value), expected);
  });
}

test('finds nothing where there can be nothing', () => {
  assert.is(finderOf(z.string()), null);
  assert.is(finderOf(z.array(z.string()).optional()), null);
});

test('leaves schemas with words of their own for other members to the parser', () => {
  for (const open of [z.strictObject({}), z.looseObject({})])
    assert.equal(finderOf(open)?.({ a: 1 }).superfluous, []);
});

test('a list that is too long is found before its items are looked at', () => {
  const short = z.object({ names: z.array(z.string()).max(2), moves: z.array(move).max(1) });
  const search = finderOf(short);
  const load = { type: 'load', more: 1 };
  assert.is(search?.({ names: ['a', 'b'], moves: [load] }).tooLong, null);
  const beyond = search?.({ names: ['a', 'b'], moves: [load, load] });
  assert.equal(beyond, { superfluous: [], unknown: 0, tooLong: { path: ['moves'], maximum: 1 } });
});

test('a list that may be one of several is left to the parser', () => {
  const either = z.union([z.array(z.string()).max(1), z.array(z.number()).max(3)]);
  assert.is(finderOf(either)?.([1, 2, 3]).tooLong ?? null, null);
});

test('of what nobody knows only the first is listed, of what must be left out all', () => {
  const many = {
    ...Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`k${at}`, 1])),
    old: 1,
  };
  const { superfluous, unknown } = find?.(many) ?? { superfluous: [], unknown: 0 };
  assert.equal([superfluous.length, unknown], [51, 80]);
});

test.run();

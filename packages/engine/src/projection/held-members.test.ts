import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { AnyProjection } from '../define/projection.ts';
import { heldColumns, heldText, resourceExpression, restWriter } from './held-members.ts';
import { cleanText } from './row.ts';
import { assertProjection, shapeOf } from './table-shape.ts';
import { additions, counters } from './test-counters.ts';

const test = suite('members in columns');

const at = '2026-01-01T00:00:00.000Z';
const table: AnyProjection = {
  ...counters,
  members: {
    total: 'column',
    name: 'column',
    metadata: 'json',
    code: 'text',
    count: 'integer',
    is_on: 'boolean',
    due_at: 'timestamptz',
    created_at: 'column',
    updated_at: 'column',
  },
};
const resource = {
  total: '12.50',
  name: 'n',
  metadata: { a: '1' },
  code: 'c',
  count: 3,
  is_on: false,
  due_at: at,
  created_at: at,
  updated_at: at,
};

const columns = Object.keys(resource);

/** The text of each column of a row with this resource. */
const textsOf = (shown: Readonly<Record<string, unknown>>): (string | null)[] => {
  const held = new Map(
    heldColumns(table).map(([name, type]) => [name, heldText(type, shown[name])]),
  );
  return columns.map((name) => {
    const text = held.get(name);
    if (text !== undefined) return text;
    return shown[name] === undefined ? null : cleanText(String(shown[name]));
  });
};
const reversed = (shown: object): object => Object.fromEntries(Object.entries(shown).reverse());
const restText = restWriter(table, columns);
const stored = (shown: object): unknown =>
  JSON.parse(restText(shown as typeof resource, textsOf({ ...shown })));

test('what a column holds is not in the JSON', () => {
  assert.equal(stored(resource), { metadata: { a: '1' } });
  const { metadata: _, code: __, ...fewer } = resource;
  assert.equal(stored(fewer), {});
});

test('a resource that columns cannot give back member by member is stored as a whole', () => {
  const wholes: readonly object[] = [
    { ...resource, unknown: 1 },
    reversed(resource),
    { ...resource, code: 'a\u0000b' },
    { ...resource, name: 'a\u0000b' },
    { ...resource, name: 5 },
    { ...resource, metadata: { a: 'b\u0000' } },
    { ...resource, metadata: { '\ud800': 'b' } },
    { ...resource, code: null },
    { ...resource, count: 1.5 },
    { ...resource, count: '3' },
    { ...resource, due_at: '2026-01-01T01:00:00.000+01:00' },
    { ...resource, total: 12.5 },
  ];
  for (const whole of wholes) assert.equal(stored(whole), [JSON.parse(JSON.stringify(whole))]);
});

test('a member that is not there is not made up from a column that has a value', () => {
  const { name: _, ...nameless } = resource;
  const text = restText(nameless as typeof resource, textsOf(resource));
  assert.equal(JSON.parse(text), [nameless]);
});

test('what changes often, and is last in a resource, is first in its JSON', () => {
  const places: AnyProjection = { ...table, members: { first: 'json', often: 'json' } };
  const shown = { first: 1, often: 2 } as unknown as typeof resource;
  assert.is(restWriter(places, columns)(shown, []), '{"often":2,"first":1}');
});

test('a column holds texts that it gives back letter by letter, and no others', () => {
  const held = (type: Parameters<typeof heldText>[0], value: unknown) => heldText(type, value);
  for (const text of ['0', '-1', '12.50', '0.000001', '-0.5'])
    assert.is(held('numeric', text), text);
  for (const text of ['-0', '-0.00', '01', '1e3', '.5', '1.', '', ' 1', 'NaN', 1]) {
    assert.is(held('numeric', text), null);
  }
  assert.is(held('timestamptz', at), at);
  for (const text of ['2026-01-01T00:00:00Z', '0999-01-01T00:00:00.000Z', 'x', 5]) {
    assert.is(held('timestamptz', text), null);
  }
  assert.is(held('integer', -7), '-7');
  assert.is(held('integer', 2 ** 53), null);
  assert.is(held('integer', -0), null);
  assert.is(held('boolean', 'true'), null);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const storable = text.isWellFormed() && !text.includes('\0');
      assert.is(held('text', text), storable ? text : null);
    }),
  );
});

test('a table without a list of members is as it was', () => {
  assert.equal(heldColumns(additions), []);
  assert.is(resourceExpression(additions), 'resource');
  const shown = { created_at: at, updated_at: at };
  assert.is(restWriter(additions, columns)(shown, []), JSON.stringify(shown));
});

test('a member has one column and no second one', () => {
  const wrong: readonly AnyProjection['members'][] = [
    { name: 'text' },
    { status: 'text' },
    { other: 'column' },
    { 'a"b': 'json' },
  ];
  for (const members of wrong) {
    assert.throws(() => assertProjection({ ...counters, members } as AnyProjection));
  }
  assert.not.throws(() => assertProjection(table));
});

test('other members, or another order, are another shape', () => {
  const { total, ...others } = table.members ?? {};
  const shapes = [
    counters,
    table,
    { ...table, members: others },
    { ...table, members: { ...others, total } },
  ];
  assert.is(new Set(shapes.map((one) => shapeOf(one as AnyProjection))).size, shapes.length);
});

test.run();

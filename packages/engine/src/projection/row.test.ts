import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { instantOf } from '../database/database.ts';
import type { ColumnType } from '../define/projection.ts';
import { rowDifference } from '../verification/row-difference.ts';
import {
  arrayText,
  cleanText,
  encodeValue,
  joinedJson,
  metadataText,
  stateText,
  wholeState,
} from './row.ts';
import { members } from './test-counters.ts';

const test = suite('row');

test('arrays of texts survive quotes, backslashes, commas and braces', () => {
  assert.is(arrayText([]), '{}');
  assert.is(arrayText(['']), '{""}');
  assert.is(arrayText([null, 'NULL']), '{NULL,"NULL"}');
  assert.is(arrayText(['a"b', 'c\\d', 'e,f', '{g}']), '{"a\\"b","c\\\\d","e,f","{g}"}');
});

test('joined JSON keeps an empty place for null', () => {
  assert.is(joinedJson(['{"a":1}', null, '2']), '{"a":1}\u001e\u001e2');
  assert.not(JSON.stringify('\u001e').includes('\u001e'));
});

const stamps = { created_at: 'c', updated_at: 'u' };
const list = [1, { a: null }];
/** A resource, a state, and the state as it is stored beside it. */
const states: readonly [object | null, unknown, unknown][] = [
  [null, { a: 1 }, { a: 1 }],
  [stamps, ['list'], ['list']],
  [stamps, 'text', 'text'],
  [stamps, { other: 1 }, { other: 1 }],
  [stamps, { ...stamps, own: list }, { own: list, '-': [] }],
  [{ ...stamps, shown: 1 }, stamps, { '-': ['shown'] }],
  [
    { ...stamps, list },
    { ...stamps, list, none: null },
    { none: null, '-': [] },
  ],
  // An equal list that is another object is stored: nobody looks into it.
  [
    { ...stamps, list },
    { ...stamps, list: [...list] },
    { list, '-': [] },
  ],
  [
    { ...stamps, a: 1, b: 2 },
    { ...stamps, a: 2 },
    { a: 2, '-': ['b'] },
  ],
  [stamps, { ...stamps, '-': 1 }, { '-': null, state: { ...stamps, '-': 1 } }],
];

test('a state is stored without what its resource has, and comes back whole', () => {
  for (const [resource, state, stored] of states) {
    const row = { state, resource } as Parameters<typeof stateText>[0];
    const text = stateText(row);
    assert.equal(JSON.parse(text ?? 'null'), stored);
    assert.equal(wholeState(text, row.resource), state);
  }
  assert.is(stateText({ state: stamps, resource: stamps }), null);
  assert.is(wholeState(null, stamps), stamps);
});

const fitting: readonly [ColumnType, unknown, string | null][] = [
  ['text', 'a', 'a'],
  ['text', 7, '7'],
  ['text', undefined, null],
  ['text', null, null],
  ['numeric', '-1.50', '-1.50'],
  ['numeric', 1e21, '1e+21'],
  ['integer', 12, '12'],
  ['integer', '9007199254740993', '9007199254740993'],
  ['boolean', false, 'false'],
  ['timestamptz', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
  ['text[]', ['a', 'b,c'], '{"a","b,c"}'],
];
const unfit: readonly [ColumnType, unknown][] = [
  ['text', {}],
  ['numeric', '1,5'],
  ['numeric', Number.NaN],
  ['numeric', ''],
  ['integer', 1.5],
  ['boolean', 'yes'],
  ['timestamptz', 'soon'],
  ['text[]', 'a'],
  ['text[]', [{}]],
];

test('values become the text of their column, or are refused', () => {
  for (const [type, value, text] of fitting) assert.is(encodeValue(type, value), text);
  for (const [type, value] of unfit) {
    assert.throws(() => encodeValue(type, value), /does not fit/, `${type} ${String(value)}`);
  }
});

test('text and metadata are made storable', () => {
  assert.is(cleanText('a\0b\ud800'), 'a\ufffdb\ufffd');
  assert.is(metadataText({ 'k\0': 'v', n: 1 }), '{"k\ufffd":"v","n":"1"}');
  assert.is(metadataText(null), null);
  assert.is(metadataText(['a']), null);
});

test('instants arrive with milliseconds, whatever Postgres leaves out', () => {
  assert.is(instantOf('2026-01-02 03:04:05+00'), '2026-01-02T03:04:05.000Z');
  assert.is(instantOf('2026-01-02 03:04:05.1+00'), '2026-01-02T03:04:05.100Z');
  assert.is(instantOf('2026-01-02 03:04:05.123456+00'), '2026-01-02T03:04:05.123Z');
  assert.throws(() => instantOf('2026-01-02 03:04:05+02'), RangeError);
});

test('rows differ in what they say, not in the order in which they say it', () => {
  const text = (resource: string, revision = '0') => [
    ...['m1', 't', null, null, 'c', 'u', revision, '1', null, resource, null],
  ];
  const compare = (expected: (string | null)[], actual: (string | null)[]) =>
    rowDifference(members, { scope: 't', id: 'm1', expected, actual });
  assert.is(compare(text('{"a":1,"b":[1,{}]}'), text('{"b":[1,{}],"a":1}')), null);
  assert.is(compare(text('{"a":1}'), text('{"a":1}', '7'))?.path, 'revision');
  const deep = compare(text('{"a":{"b":[1,2]}}'), text('{"a":{"b":[1,3]}}'));
  assert.equal([deep?.path, deep?.expected, deep?.actual], ['resource.a.b.1', 2, 3]);
  assert.is(compare(text('{"a":[]}'), text('{"a":{}}'))?.path, 'resource.a');
  assert.is(compare(text('{}'), text('{"a":null}'))?.path, 'resource.a');
});

test.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { FileType } from '../task/values.ts';
import type { FileRow } from './file-row.ts';
import { fileRows, retyped } from './rows.ts';

const test = suite('rows of files');

const known = new Set(['name', 'external_id', 'metadata', 'tiers', 'properties']);

/** The rows of a text that comes in parts of so many characters. */
async function rowsOf(text: string, type: FileType, size = 7): Promise<FileRow[]> {
  const parts = async function* () {
    for (let from = 0; from < text.length; from += size) yield text.slice(from, from + size);
  };
  const rows: FileRow[] = [];
  for await (const some of fileRows(parts(), type, known)) rows.push(...some);
  return rows;
}

const shown = (rows: readonly FileRow[]) =>
  rows.map((row) => [row.line, row.kind === 'row' ? row.row : row.error]);

const failure = async (text: string, type: FileType): Promise<string> => {
  const error = await rowsOf(text, type).catch((reason: unknown) => reason);
  assert.instance(error, SyntaxError);
  return (error as SyntaxError).message;
};

test('columns with dots lead into objects and lists, and an empty cell is none', async () => {
  const text =
    '\uFEFFname,external_id,metadata.tier.now,tiers.0.up_to,tiers.1.up_to\r\n' +
    'Acme,a,gold,10,20\r\n' +
    '\r\n' +
    '"B, ""Ltd""\r\nNorth",b,,,\r\n' +
    'C,c,,5';
  assert.equal(shown(await rowsOf(text, 'CSV')), [
    [
      2,
      {
        name: 'Acme',
        external_id: 'a',
        metadata: { 'tier.now': 'gold' },
        tiers: [{ up_to: '10' }, { up_to: '20' }],
      },
    ],
    [4, { name: 'B, "Ltd"\r\nNorth', external_id: 'b' }],
    [6, 'has 4 cells where the header has 5'],
  ]);
});

test('a header that names nothing known, the same twice or a prototype is refused', async () => {
  assert.match(await failure('name,phone\n', 'CSV'), 'line 1: there is no column "phone"');
  assert.match(await failure('name,name\n', 'CSV'), 'line 1: the column name is there twice');
  assert.match(await failure('metadata.__proto__\n', 'CSV'), 'line 1: there is no column');
  assert.match(await failure('tiers.constructor.name\n', 'CSV'), 'line 1: there is no column');
  assert.match(await failure('name\n"x', 'CSV'), 'line 2: a quote is not closed');
});

test('each line of NDJSON is a row, as it stands', async () => {
  const text = '{"name":"Acme","n":1.0}\n\n[1]\n{"name":\n{"name":"B"}';
  const rows = await rowsOf(text, 'NDJSON');
  assert.equal(shown(rows), [
    [1, { name: 'Acme', n: 1 }],
    [3, 'is no JSON object'],
    [4, 'is no JSON object'],
    [5, { name: 'B' }],
  ]);
  assert.is(rows[0]?.kind === 'row' && rows[0].text, '{"name":"Acme","n":1.0}');
});

test('JSON is a list, or an object on each line', async () => {
  const list = ' [ {"name":"[,]\\"}"},\n\n  {"a":{"b":[1,2]}}\n, 7 ,\n"x"]\n ';
  assert.equal(shown(await rowsOf(list, 'JSON')), [
    [1, { name: '[,]"}' }],
    [3, { a: { b: [1, 2] } }],
    [4, 'is no JSON object'],
    [5, 'is no JSON object'],
  ]);
  assert.equal(await rowsOf('[]', 'JSON'), []);
  assert.equal(shown(await rowsOf('{"a":1}\n{"a":2}', 'JSON')), [
    [1, { a: 1 }],
    [2, { a: 2 }],
  ]);
  assert.match(await failure('[{"a":1},', 'JSON'), 'the list is not closed');
  assert.match(await failure('[{"a":1}', 'JSON'), 'the list is not closed');
  assert.match(await failure('[1,,2]', 'JSON'), 'an item is missing');
  assert.match(await failure('[1] x', 'JSON'), 'something follows the list');
});

test('texts that stand for numbers and truth values become such where they are asked for', () => {
  const row = { count: '007', rate: '-1.50', is: 'true', name: 'x', tiers: [{ up_to: '10' }] };
  const pointers = ['/count', '/rate', '/is', '/name', '/tiers/0/up_to', '/missing/deep'];
  assert.is(
    retyped(row, pointers),
    '{"count":7,"rate":-1.5,"is":true,"name":"x","tiers":[{"up_to":10}]}',
  );
  assert.is(retyped(row, ['/name', '/nothing']), null);
});

test.run();

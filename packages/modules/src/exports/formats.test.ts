import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { csvCell } from './formats/csv.ts';
import { formatOf } from './formats/format.ts';
import type { ExportRow } from './rows.ts';
import { testColumns, testRow } from './test-run.ts';

const test = suite('formats of exports');

const cells: readonly [string | number | boolean | null, string][] = [
  ['plain', 'plain'],
  [null, ''],
  [12, '12'],
  [true, 'true'],
  ['a,b', '"a,b"'],
  ['say "no"', '"say ""no"""'],
  ['two\r\nlines', '"two\r\nlines"'],
  ['=1+1', "'=1+1"],
  ['+cmd', "'+cmd"],
  ['@sum', "'@sum"],
  ['-x', "'-x"],
  ['\tx', "'\tx"],
  ['-12.50', '-12.50'],
  ['+3', '+3'],
  ['=a,b', '"\'=a,b"'],
];

for (const [cell, text] of cells) {
  test(`the cell ${JSON.stringify(cell)} is written as ${JSON.stringify(text)}`, () =>
    assert.is(csvCell(cell), text));
}

function written(format: 'csv' | 'ndjson' | 'parquet', rows: readonly ExportRow[]): Buffer {
  const writer = formatOf(format, testColumns);
  const parts = [writer.start()];
  for (let start = 0; start < rows.length; start += 7) {
    parts.push(writer.rows(rows.slice(start, start + 7)));
  }
  return Buffer.concat([...parts, writer.end()]);
}

test('a CSV file has its header also without rows', () => {
  assert.is(written('csv', []).toString(), 'id,note,amount,currency,at,count,is_paid,metadata\r\n');
});

test('a line of JSON has every column, decimals as texts and JSON as it is', () => {
  const [line = ''] = written('ndjson', [testRow('a', null, '1.50')])
    .toString()
    .split('\n');
  assert.equal(JSON.parse(line), {
    id: 'a',
    note: null,
    amount: '1.50',
    currency: 'USD',
    at: '2026-01-01T00:00:00.000Z',
    count: 7,
    is_paid: true,
    metadata: { a: 'b' },
  });
});

test('a Parquet file of several groups is read by another program as it was written', async () => {
  const rows = Array.from({ length: 10_050 }, (_, index) =>
    testRow(`row-${index}`, index % 3 === 0 ? null : 'noted', `${index}.25`),
  );
  const bytes = written('parquet', rows);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const read = await parquetReadObjects({ file });
  assert.is(read.length, rows.length);
  const { note, ...last } = read.at(-1) ?? {};
  assert.equal(last, {
    id: 'row-10049',
    amount: '10049.25',
    currency: 'USD',
    at: new Date('2026-01-01T00:00:00.000Z'),
    count: 7n,
    is_paid: true,
    metadata: '{"a":"b"}',
  });
  assert.is(note, 'noted');
  assert.is(read[0]?.note ?? null, null);
  const none = written('parquet', []);
  const empty = none.buffer.slice(none.byteOffset, none.byteOffset + none.length) as ArrayBuffer;
  assert.equal(await parquetReadObjects({ file: empty }), []);
});

test('a group of a Parquet file ends where its rows are long', () => {
  const long = 'n'.repeat(1_000_000);
  const rows = Array.from({ length: 20 }, (_, index) => testRow(`${index}`, long, '1'));
  const bytes = written('parquet', rows);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const groups = parquetMetadata(file).row_groups.map(({ num_rows }) => Number(num_rows));
  assert.equal(groups, [8, 8, 4]);
});

test.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type EventFormat, type EventRow, eventRows } from './event-rows.ts';

const test = suite('events of a file');

async function read(
  format: EventFormat,
  ...given: readonly string[]
): Promise<readonly EventRow[]> {
  async function* pieces() {
    yield* given;
  }
  const rows: EventRow[] = [];
  for await (const row of eventRows(pieces(), format, (line) => `made-${line}`)) rows.push(row);
  return rows;
}

/** The events and faults as one would write them down: the line, and the event or what is wrong. */
const told = async (format: EventFormat, ...given: readonly string[]) =>
  (await read(format, ...given)).map((row) =>
    row.kind === 'event' ? [row.line, row.text] : [row.line, row.error],
  );

test('columns are fields and properties, and an empty cell is none', async () => {
  const header = 'event_id,event_name,external_customer_id,properties.model,properties.count\n';
  assert.equal(await told('csv', `\uFEFF${header}e-1,tokens,acme,"a,b",1.50\n,tokens,acme,,\n`), [
    [
      2,
      '{"event_id":"e-1","event_name":"tokens","external_customer_id":"acme",' +
        '"properties":{"model":"a,b","count":"1.50"}}',
    ],
    [3, '{"event_name":"tokens","external_customer_id":"acme","event_id":"made-3"}'],
  ]);
});

test('a row with another number of cells is refused with its line', async () => {
  assert.equal(await told('csv', 'event_name\na\nb,c\n'), [
    [2, '{"event_name":"a","event_id":"made-2"}'],
    [3, 'has 2 cells where the header has 1'],
  ]);
});

test('a column that is no field is refused, and one that is there twice', async () => {
  for (const [header, message] of [
    ['event_name,colour', /no column "colour"/],
    ['event_name,event_name', /event_name is there twice/],
  ] as const) {
    const refusal = await read('csv', header).then(String, (error: Error) => error.message);
    assert.match(refusal, message);
  }
});

test('lines of JSON go out as they are, with an id where they have none', async () => {
  const long = '{"event_id":"e","properties":{"n":0.12345678901234567890}}';
  assert.equal(
    await told('ndjson', `${long}\r\n\n{"event_na`, 'me":"a"}\n{"event_id":null}\n{}\n[1]\nno\n{}'),
    [
      [1, long],
      [3, '{"event_name":"a","event_id":"made-3"}'],
      [4, '{"event_id":null,"event_id":"made-4"}'],
      [5, '{"event_id":"made-5"}'],
      [6, 'is no JSON object'],
      [7, 'is no JSON object'],
      [8, '{"event_id":"made-8"}'],
    ],
  );
});

test.run();

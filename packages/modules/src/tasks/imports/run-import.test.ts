import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { importLimits } from '../limits.ts';
import { importWorld, Killed } from '../test-import-world.ts';

const test = suite('runs of imports');

const csv = { entity_type: 'CUSTOMERS', file_type: 'CSV' };

/** A CSV file of so many customers, of which every fifth has no name. */
const customersUpTo = (count: number): string =>
  [
    'name,external_id,metadata.tier',
    ...Array.from({ length: count }, (_, index) =>
      index % 5 === 4 ? `,c-${index},gold` : `Customer ${index},c-${index},gold`,
    ),
  ].join('\n');

async function imported(text: string, body: object = csv) {
  const at = importWorld();
  const { id } = await at.create(body);
  await at.upload(id, text);
  return { ...at, id };
}

test('good rows are carried out, bad ones are told with their lines, and the counts add up', async () => {
  const text =
    'name,external_id,email\n' +
    'Acme,acme,billing@example.com\n' +
    ',nameless,\n' +
    '"B\nLtd",b,no address\n' +
    'C\n' +
    'D,d,';
  const { id, run, get, badRows, customers } = await imported(text);
  assert.equal(await run(id), { kind: 'completed', rows: 5 });
  const task = await get(id);
  assert.equal(
    [task.task_status, task.total_records, task.successful_records, task.failed_records],
    ['COMPLETED', 5, 2, 3],
  );
  const refused = await badRows(id);
  assert.equal(
    refused.map(({ line, row }) => [line, row]),
    [
      [3, { external_id: 'nameless' }],
      [4, { name: 'B\nLtd', external_id: 'b', email: 'no address' }],
      [6, ['C']],
    ],
  );
  assert.match(refused[0]?.error ?? '', 'name');
  assert.equal((await customers()).map(({ external_id }) => external_id).toSorted(), ['acme', 'd']);
});

test('killed before a note, an import goes on and has each row once, and each bad one listed once', async () => {
  const rows = importLimits.portion * 2 + 40;
  const { id, run, get, badRows, customers, memory } = await imported(customersUpTo(rows));
  for (const diesAtNote of [1, 2, 1]) {
    const end = await run(id, { diesAtNote }).catch((error: unknown) => error);
    assert.instance(end, Killed);
  }
  assert.equal(await run(id), { kind: 'completed', rows });
  const bad = rows / 5;
  const task = await get(id);
  assert.equal([task.successful_records, task.failed_records], [rows - bad, bad]);
  assert.is(memory.store.log.filter(({ type }) => type === 'CustomerCreated').length, rows - bad);
  const lines = (await badRows(id)).map(({ line }) => line);
  assert.equal(
    lines,
    Array.from({ length: bad }, (_, index) => index * 5 + 6),
  );
  assert.is((await customers()).length, Math.min(1_000, rows - bad));
});

test('a process that was overtaken adds nothing and stops', async () => {
  const rows = importLimits.portion + 10;
  const { id, run, get } = await imported(customersUpTo(rows));
  let other: Promise<unknown> | null = null;
  const first = await run(id, {
    answer: () => {
      other ??= run(id);
      return null;
    },
  });
  await other;
  assert.equal([first.kind, (await get(id)).task_status].toSorted(), ['COMPLETED', 'stopped']);
  const { successful_records, failed_records } = await get(id);
  assert.is(successful_records + failed_records, rows);
});

test('rows that say the same again are done, others are refused unless the task may update', async () => {
  const first = 'name,external_id,metadata.tier\nAcme,acme,gold\nB,b,gold';
  const second = 'name,external_id,metadata.tier\nAcme,acme,gold\nBee,b,gold';
  const { id, run, create, upload, get, badRows, customers } = await imported(first);
  await run(id);
  for (const [on_existing, counts, name] of [
    ['refuse', [1, 1], 'B'],
    ['update', [2, 0], 'Bee'],
  ] as const) {
    const again = await create({ ...csv, on_existing });
    await upload(again.id, second);
    await run(again.id);
    const { successful_records, failed_records } = await get(again.id);
    assert.equal([successful_records, failed_records], counts);
    const found = (await customers()).find(({ external_id }) => external_id === 'b');
    assert.is(found?.name, name);
    const [bad] = await badRows(again.id);
    if (bad) assert.match(bad.error, 'with other contents (name)');
  }
});

test('the first of two rows with one external_id counts, and a child finds its parent', async () => {
  const text =
    'name,external_id,parent_customer_external_id\n' +
    'Parent,p,\nChild,c,p\nOther,p,\nOrphan,o,nobody';
  const { id, run, badRows, customers } = await imported(text);
  await run(id);
  assert.equal(
    (await badRows(id)).map(({ line }) => line),
    [4, 5],
  );
  const names = (await customers()).map(({ name }) => name).toSorted();
  assert.equal(names, ['Child', 'Parent']);
});

test('while the service is away a row waits; a fault that stays makes it a bad one', async () => {
  const answers = [503, 429, 503];
  const { id, run, get, badRows } = await imported('name,external_id\nA,a\nB,b');
  await run(id, {
    answer: ({ body }) => {
      if (body.includes('"b"')) return { status: 500, body: { message: 'It broke.' } };
      const status = answers.shift();
      return status === undefined ? null : { status, body: {} };
    },
  });
  assert.is((await get(id)).successful_records, 1);
  assert.equal(
    (await badRows(id)).map(({ line, error }) => [line, error]),
    [[3, 'It broke.']],
  );
});

test('a key that may not do it any more ends the import, which can go on with another', async () => {
  const { id, run, get, setStatus } = await imported('name,external_id\nA,a');
  const message = 'The API key does not count any more.';
  await run(id, { answer: () => ({ status: 401, body: { message } }) });
  const failed = await get(id);
  assert.equal([failed.task_status, failed.error_summary], ['FAILED', message]);
  await setStatus(id, 'PENDING');
  await run(id);
  const { task_status, error_summary } = await get(id);
  assert.equal([task_status, error_summary], ['COMPLETED', undefined]);
});

test('a process that is to stop ends behind the rows under way', async () => {
  const stopping = new AbortController();
  const { id, run, get } = await imported(customersUpTo(importLimits.portion * 2));
  const end = await run(id, {
    signal: stopping.signal,
    answer: () => {
      stopping.abort();
      return null;
    },
  });
  assert.is(end.kind, 'stopped');
  const { task_status, processed_records } = await get(id);
  assert.equal([task_status, processed_records], ['PROCESSING', importLimits.portion]);
});

test('a file that is not of its form fails the task, with what stands before it done', async () => {
  const { id, run, get } = await imported('name,external_id\nA,a\n"B,b');
  await run(id);
  const { task_status, error_summary, successful_records } = await get(id);
  assert.equal(
    [task_status, error_summary, successful_records],
    ['FAILED', 'line 3: a quote is not closed', 1],
  );
  const other = await imported('name,phone\nA,1');
  await other.run(other.id);
  assert.match((await other.get(other.id)).error_summary ?? '', 'no column "phone"');
});

test('usage events go out in bulks, each with an id that follows from its row', async () => {
  const lines = [
    '{"event_name":"calls","external_customer_id":"a"}',
    'nonsense',
    '{"event_name":"calls","external_customer_id":"a","event_id":"own"}',
    '{"event_name":""}',
  ];
  const body = { entity_type: 'EVENTS', file_type: 'NDJSON' };
  const { id, run, get, badRows, sent } = await imported(lines.join('\n'), body);
  await run(id, {
    answer: ({ body: text }) => {
      const { events } = JSON.parse(text) as { events: { event_name: string }[] };
      const wrong = events.findIndex(({ event_name }) => event_name === '');
      if (wrong < 0) {
        return { status: 202, body: { accepted: events.length, repeated: 0, conflicts: [] } };
      }
      const errors = [{ pointer: `/events/${wrong}/event_name`, message: 'is empty' }];
      return { status: 400, body: { code: 'validation_error', message: 'wrong', errors } };
    },
  });
  const ids = JSON.parse(sent.at(-1)?.body ?? '') as { events: { event_id: string }[] };
  assert.equal(
    ids.events.map(({ event_id }) => event_id),
    [`${id}-1`, 'own'],
  );
  assert.is((await get(id)).successful_records, 2);
  assert.equal(
    (await badRows(id)).map(({ line, error }) => [line, error]),
    [
      [2, 'is no JSON object'],
      [4, 'event_name: is empty'],
    ],
  );
});

test('texts of CSV become the numbers that a field asks for', async () => {
  const { id, run, sent } = await imported('entity_type,entity_id,billing_period_count\nPLAN,p,2', {
    entity_type: 'PRICES',
    file_type: 'CSV',
  });
  await run(id);
  assert.equal(
    sent.map(
      ({ body }) => (JSON.parse(body) as { billing_period_count: unknown }).billing_period_count,
    ),
    ['2', 2],
  );
});

test.run();

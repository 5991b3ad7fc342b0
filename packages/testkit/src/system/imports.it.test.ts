import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { abandonedImports } from '@counterfoil/api/open-imports';
import { connect } from '@counterfoil/engine';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';

const test = suite('imports');

const program = fileURLToPath(import.meta.resolve('@counterfoil/cli'));
const csv = { 'content-type': 'text/csv' };

let stack: SharedStack;
let tenant: TestTenant;
test.before(async () => {
  stack = await sharedStack();
  tenant = await stack.tenant('imports');
  await tenant.untilKnown();
});

const create = (body: object): Promise<{ id: string }> =>
  tenant.ok('POST', '/tasks', { task_type: 'IMPORT', ...body });

/** The task once it has ended. */
const ended = (id: string) =>
  eventually(
    async () => {
      const { status, body } = await tenant.call('GET', `/tasks/${id}`);
      return status === 200 && ['COMPLETED', 'FAILED'].includes(body.task_status) && body;
    },
    () => `${id} never ended`,
  );

const badLines = async (id: string): Promise<number[]> => {
  const { text, status } = await tenant.call('GET', `/tasks/${id}/download`);
  assert.is(status, 200, text);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).line);
};

/** A CSV file of customers, of which every seventh has no name. */
const customersOf = (prefix: string, count: number): string =>
  [
    'name,external_id',
    ...Array.from(
      { length: count },
      (_, index) => `${index % 7 === 6 ? '' : 'C'},${prefix}-${index}`,
    ),
  ].join('\n');

test('a file that is sent in parts is imported; bad rows are listed and can be downloaded', async () => {
  const { id } = await create({ entity_type: 'CUSTOMERS', file_type: 'CSV' });
  const text = customersOf('parts', 21);
  const file = `/tasks/${id}/file`;
  const half = Math.floor(text.length / 2);
  const first = await tenant.ok('PUT', `${file}?complete=false`, text.slice(0, half), csv);
  assert.equal(first, { task_id: id, received_bytes: half, complete: false });
  const gap = await tenant.call('PUT', `${file}?offset=${half + 1}`, 'x', csv);
  assert.equal([gap.status, gap.body.errors?.[0]?.pointer], [400, '/offset']);
  await tenant.ok('PUT', `${file}?offset=${half}`, text.slice(half), csv);
  const task = await ended(id);
  assert.equal(
    [task.task_status, task.successful_records, task.failed_records],
    ['COMPLETED', 18, 3],
  );
  assert.equal(await badLines(id), [8, 15, 22]);
  const { workflow_status, progress } = await eventually(async () => {
    const { items } = await tenant.ok('POST', '/workflows/search', { workflow_id: id });
    return items[0]?.workflow_status === 'Completed' && items[0];
  });
  assert.equal([workflow_status, progress], ['Completed', { processed: 21, failed: 3 }]);
  const json = await tenant.call('PUT', file, '{}');
  assert.is(json.status, 415);
});

test('an import goes on after the api was stopped, and has each row once', async () => {
  const count = 1_400;
  const { id } = await create({ entity_type: 'CUSTOMERS', file_type: 'CSV' });
  await tenant.ok('PUT', `/tasks/${id}/file`, customersOf('stopped', count), csv);
  await eventually(
    async () => (await tenant.call('GET', `/tasks/${id}`)).body?.processed_records > 0,
  );
  await stack.parts.api.stop();
  await stack.parts.api.start();
  const task = await ended(id);
  assert.equal([task.successful_records, task.failed_records], [count - count / 7, count / 7]);
  assert.is((await badLines(id)).length, count / 7);
  const search = { external_ids: Array.from({ length: 700 }, (_, index) => `stopped-${index}`) };
  const { pagination } = await tenant.ok('POST', '/customers/search', { limit: 1, ...search });
  assert.is(pagination.total, 600);
});

test('an import that waits for a file is abandoned after its time, unless some of it has come', async () => {
  const { id: waiting } = await create({ entity_type: 'CUSTOMERS', file_type: 'CSV' });
  const { id: begun } = await create({ entity_type: 'CUSTOMERS', file_type: 'CSV' });
  await tenant.ok('PUT', `/tasks/${begun}/file?complete=false`, 'name,', csv);
  const connection = await connect(stack.databaseUrl, { application: 'test of imports' });
  try {
    const own = async (hours: number) =>
      (await abandonedImports(connection, hours)).flatMap(({ id, tenant_id }) =>
        tenant_id === tenant.tenantId ? [id] : [],
      );
    await eventually(async () => (await own(-1)).length > 0);
    assert.equal([await own(-1), await own(1)], [[waiting], []]);
  } finally {
    await connection.close();
    for (const id of [waiting, begun]) await tenant.ok('DELETE', `/tasks/${id}/file`);
  }
  assert.is((await tenant.call('PUT', `/tasks/${begun}/file?offset=5`, 'x', csv)).status, 400);
});

test('usage is fetched from a URL and counted; what cannot be fetched fails the task, with an alert', async () => {
  const lines = Array.from({ length: 2_300 }, (_, index) =>
    JSON.stringify({ event_name: 'calls', external_customer_id: index === 7 ? '' : 'url' }),
  );
  const server = createServer((request, response) => {
    if (request.url === '/events.ndjson') response.end(lines.join('\n'));
    else response.writeHead(302, { location: '/events.ndjson' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const events = { entity_type: 'EVENTS', file_type: 'NDJSON' };
  try {
    const { id } = await create({ ...events, file_url: `${base}/events.ndjson` });
    const moved = await create({ ...events, file_url: `${base}/moved` });
    const task = await ended(id);
    assert.equal([task.successful_records, task.failed_records], [2_299, 1]);
    assert.equal(await badLines(id), [8]);
    const query = { event_name: 'calls', external_customer_id: 'url', aggregation_type: 'COUNT' };
    await eventually(
      async () => (await tenant.ok('POST', '/events/usage', query)).total_value === '2299',
    );
    const failed = await ended(moved.id);
    assert.equal(
      [failed.task_status, failed.error_summary],
      ['FAILED', 'The file_url answered 302.'],
    );
    const alert = await eventually(async () => {
      const { items } = await tenant.ok('POST', '/alerts/search', { entity_id: moved.id });
      return items[0];
    });
    assert.equal(
      [alert.alert_type, alert.alert_info.message],
      ['task_failed', 'The file_url answered 302.'],
    );
  } finally {
    server.close();
  }
  const inside = await tenant.call('POST', '/tasks', {
    ...{ task_type: 'IMPORT', ...events },
    file_url: 'http://10.0.0.1/events.ndjson',
  });
  assert.equal([inside.status, inside.body.errors?.[0]?.pointer], [400, '/file_url']);
});

test('prices come with numbers and tiers in columns, and the command line tells the rows that were refused', async () => {
  const plan = await tenant.ok('POST', '/plans', { name: 'Imported', lookup_key: 'imported' });
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-imports-'));
  try {
    const common = `PLAN,${plan.id},FIXED,MONTHLY,ADVANCE,usd`;
    const file = join(folder, 'prices.csv');
    writeFileSync(
      file,
      'entity_type,entity_id,type,billing_period,invoice_cadence,currency,billing_model,lookup_key,amount,tier_mode,tiers.0.up_to,tiers.0.unit_amount,tiers.1.unit_amount,billing_period_count\n' +
        `${common},FLAT_FEE,flat,12.50,,,,,1\n` +
        `${common},TIERED,tiered,,SLAB,10,2,1,1\n` +
        `${common},FLAT_FEE,twice,5,,,,,zero\n`,
    );
    const refused = join(folder, 'refused.ndjson');
    const command = [program, 'tasks', 'import', 'prices', file, '--refused', refused];
    const place = ['--url', stack.baseUrl, '--key', tenant.apiKey];
    const { code, out } = await new Promise<{ code: number; out: string }>((resolve) => {
      execFile(process.execPath, [...command, ...place], (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), out: `${stdout}${stderr}` }),
      );
    });
    assert.is(code, 1, out);
    assert.match(out, 'COMPLETED: 2 carried out, 1 refused');
    assert.match(readFileSync(refused, 'utf8'), '"line":4');
    const { items } = await tenant.ok('GET', `/prices?plan_ids=${plan.id}`);
    const keys = items.map(({ lookup_key }: { lookup_key: string }) => lookup_key);
    assert.equal(keys.toSorted(), ['flat', 'tiered']);
    const tiered = items.find(({ lookup_key }: { lookup_key: string }) => lookup_key === 'tiered');
    assert.is(tiered.tiers[0].up_to, 10);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.run();

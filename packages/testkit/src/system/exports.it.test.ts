import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { connect } from '@counterfoil/engine';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type Part, startPart } from '../part.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { type S3Server, startS3Server } from '../storage/s3-server.ts';
import { endedRun, exportsTo, startExporterProcess, startTestExporter } from './exporting.ts';

const test = suite('exports');

let stack: SharedStack;
let storage: S3Server;
let exporter: Part;
let healthPort: number;

test.before(async () => {
  [stack, storage] = await Promise.all([sharedStack(), startS3Server()]);
  const { first, part } = await startPart(() => startTestExporter(stack));
  exporter = part;
  healthPort = first.healthPort;
});

test.after(async () => {
  await exporter?.stop();
  await storage?.stop();
});

/** A tenant with a connection to the storage, and what tests ask it for. */
async function exporting(seed: string) {
  const tenant = await stack.tenant(seed);
  return { tenant, ...(await exportsTo(tenant, storage, seed)) };
}

/** The manifests of a prefix, each with the lines of its file. */
async function filesOf(prefix: string) {
  const keys = storage.keys().filter((key) => key.startsWith(`${prefix}/`));
  return Promise.all(
    keys
      .filter((key) => key.endsWith('.manifest.json'))
      .map(async (key) => {
        const manifest = JSON.parse((await storage.get(key)).toString());
        const [file] = manifest.files;
        const stored = await storage.get(file.key);
        assert.is(createHash('sha256').update(stored).digest('hex'), file.sha256);
        assert.is(stored.length, file.bytes);
        const text = (file.key.endsWith('.gz') ? gunzipSync(stored) : stored).toString();
        return { manifest, text, lines: text.split(/\r?\n/).slice(0, -1) };
      }),
  );
}

const runOf = (tenant: TestTenant, id: string, body: object = {}) =>
  tenant.ok('POST', `/tasks/scheduled/${id}/run`, body);

test('an exporter that has nothing to export is told of no batch of the projector', async () => {
  const connection = await connect(stack.databaseUrl, { application: 'test' });
  const listening = async () => {
    const { rows } = await connection.query<{ readonly pid: string }>(
      `select pid from pg_stat_activity where application_name = 'counterfoil progress' order by pid`,
    );
    return rows;
  };
  const before = await listening();
  const kill = await startExporterProcess(stack);
  assert.equal(await listening(), before);
  await kill();
  await connection.close();
});

test('an exporter that cannot look for runs is not ready, and is when it can again', async () => {
  const runs = async () => {
    const answer = await fetch(`http://127.0.0.1:${healthPort}/readyz`);
    const { checks } = (await answer.json()) as { checks: { name: string; status: string }[] };
    return checks.find(({ name }) => name === 'runs')?.status;
  };
  const become = (status: string) =>
    eventually(
      async () => (await runs()) === status,
      () => `the look for runs is not ${status}`,
    );
  await become('ok');
  await stack.parts.postgres.stop();
  await become('failing').finally(() => stack.parts.postgres.start());
  await become('ok');
});

test('what happened in six days of a test clock is in files, each row once, also after an outage', async () => {
  const { tenant, schedule } = await exporting('exphours');
  const clock = `/environments/${tenant.environmentId}/clock`;
  await tenant.ok('PUT', clock, { now: '2026-01-01T00:00:00Z' });
  const events = await schedule({ entity_type: 'events', interval: 'daily' }, { format: 'ndjson' });
  const ledger = await schedule({ entity_type: 'wallet_ledger', interval: 'daily' });
  await tenant.ok('POST', '/meters', {
    name: 'Tokens',
    event_name: 'tokens',
    aggregation: { type: 'SUM', field: 'count' },
    reset_usage: 'BILLING_PERIOD',
  });
  const customer = await tenant.ok('POST', '/customers', { name: '=Ada', external_id: 'ada' });
  const wallet = await tenant.ok('POST', '/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    initial_credits_to_load: '100',
  });
  const sent: string[] = [];
  const usedUntil = async (to: string, credits: string): Promise<void> => {
    for (const number of [1, 2]) {
      const event_id = `${to}-${number}`;
      sent.push(event_id);
      await tenant.ok('POST', '/events', {
        ...{ event_name: 'tokens', external_customer_id: 'ada', event_id },
        properties: { count: number },
      });
    }
    await tenant.ok('POST', `/wallets/${wallet.id}/debit`, { credits });
    await tenant.ok('POST', `${clock}/advance`, { to: `2026-01-${to}:30:00Z` });
    await eventually(
      async () => (await tenant.ok('GET', clock)).state === 'standing',
      () => 'the clock still advances',
    );
  };
  const files = (count: number) =>
    eventually(
      async () => {
        const found = await filesOf('exphours');
        return found.length === count && found;
      },
      () => `the files of ${count} windows never came`,
    );
  await usedUntil('02T01', '1');
  await usedUntil('03T01', '2');
  await files(2 * 2);
  // Nobody exports while three days of the clock pass.
  await exporter.stop();
  await usedUntil('05T01', '5');
  await usedUntil('06T01', '7');
  await exporter.start();
  await usedUntil('07T01', '9');
  const manifests = await files(2 * 6);
  const ofTask = ({ id }: { readonly id: string }) =>
    manifests.filter(({ manifest }) => manifest.scheduled_task_id === id);
  const rows = ofTask(events).flatMap(({ lines }) => lines.map((line) => JSON.parse(line)));
  assert.equal(rows.map(({ id }) => id).sort(), [...sent].sort());
  assert.equal(
    rows.map(({ qty_total }) => qty_total),
    ['1', '2', '1', '2', '1', '2', '1', '2', '1', '2'],
  );
  assert.is(rows[0].customer_id, customer.id);
  assert.equal(
    ofTask(ledger).map(({ manifest }) => [manifest.rows, manifest.sums.credit_amount ?? {}]),
    [
      [2, { usd: '101' }],
      [1, { usd: '2' }],
      [1, { usd: '5' }],
      [0, {}],
      [1, { usd: '7' }],
      [1, { usd: '9' }],
    ],
  );
  for (const task of [events, ledger]) {
    for (const [index, { manifest }] of ofTask(task).entries()) {
      const before = ofTask(task)[index - 1]?.manifest;
      assert.is(manifest.from_position, before?.to_position ?? null);
      assert.is(manifest.start_time, before?.end_time ?? '2026-01-01T00:00:00.000Z');
    }
  }
});

test('a run that is repeated writes nothing, or the next generation beside the old one', async () => {
  const { tenant, schedule } = await exporting('exprepeat');
  const { id } = await schedule({ entity_type: 'events' });
  const usage = (event_id: string) =>
    tenant.ok('POST', '/events', {
      event_name: 'calls',
      external_customer_id: '+cmd',
      event_id,
      properties: { note: 'a "quoted", text' },
    });
  await usage('first');
  const range = { start_time: '2026-01-01T00:00:00Z', end_time: new Date().toISOString() };
  const firstRun = await endedRun(tenant, (await runOf(tenant, id, range)).task_id);
  assert.equal([firstRun.task_status, firstRun.total_records], ['COMPLETED', 1]);
  const again = await endedRun(tenant, (await runOf(tenant, id, range)).task_id);
  assert.equal([again.metadata.written, again.metadata.generation], ['false', '1']);
  assert.is((await filesOf('exprepeat')).length, 1);
  const [first] = await filesOf('exprepeat');
  assert.match(first?.text ?? '', /first.*,'\+cmd,/);
  // Taken back later than the window: the row is another one, in the window of that.
  await tenant.ok('POST', '/events/first/void', { reason: 'a mistake' });
  const still = await endedRun(tenant, (await runOf(tenant, id, range)).task_id);
  assert.is(still.metadata.written, 'false');
  await tenant.ok('POST', '/customers', { name: 'Eve', external_id: '+cmd' });
  const changed = await endedRun(tenant, (await runOf(tenant, id, range)).task_id);
  assert.equal([changed.metadata.written, changed.metadata.generation], ['true', '2']);
  const both = await filesOf('exprepeat');
  assert.equal(both[0], first);
  assert.is(both[1]?.manifest.supersedes, first?.manifest.files[0].key);
});

test('a storage that is away, cuts or says no is told, and nothing of an attempt is left', async () => {
  const { tenant, schedule, connection_id } = await exporting('expfaults');
  const { id } = await schedule({ entity_type: 'invoice' });
  const range = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-02T00:00:00Z' };
  const attempted = async (taskId: string, expected: RegExp) =>
    eventually(
      async () => {
        const task = await tenant.ok('GET', `/tasks/${taskId}`);
        return expected.test(task.error_summary ?? '') && task;
      },
      () => `the run ${taskId} never told ${expected}`,
    );
  await storage.break({ kind: 'refused' });
  const refused = await runOf(tenant, id, range);
  const waiting = await attempted(refused.task_id, /cannot be reached: ECONNREFUSED/);
  assert.is(waiting.task_status, 'PROCESSING');
  assert.ok(waiting.metadata.retry_at);
  await storage.break(null);
  await tenant.ok('PUT', `/connections/${connection_id}`, {
    encrypted_secret_data: {
      s3: { ...storage.credentials, aws_secret_access_key: 'wrong' },
    },
  });
  const wrong = await endedRun(tenant, (await runOf(tenant, id, range)).task_id);
  assert.equal(
    [wrong.task_status, wrong.error_summary],
    ['FAILED', 'The storage answered SignatureDoesNotMatch (403).'],
  );
  assert.not.match(JSON.stringify(wrong), /wrong|S3RVER/);
  assert.equal(await filesOf('expfaults'), []);
  assert.equal(storage.openUploads(), []);
});

test('an exporter that is killed in the middle of an upload leaves nothing, and the next has each row once', async () => {
  const { tenant, schedule } = await exporting('expkilled');
  const { id } = await schedule(
    { entity_type: 'events' },
    { format: 'ndjson', compression: 'none' },
  );
  await exporter.stop();
  // More than a part, so that it is sent in parts.
  const note = 'n'.repeat(32_000);
  const ids = Array.from({ length: 640 }, (_, number) => `killed-${number}`);
  for (let first = 0; first < ids.length; first += 128) {
    const events = ids.slice(first, first + 128).map((event_id) => ({
      ...{ event_name: 'calls', external_customer_id: 'ada', event_id, properties: { note } },
    }));
    await tenant.ok('POST', '/events/bulk', { events });
  }
  const kill = await startExporterProcess(stack);
  try {
    // Between two requests there is time to look.
    await storage.break({ kind: 'slow', milliseconds: 500 });
    const { task_id } = await runOf(tenant, id, {
      ...{ start_time: '2026-01-01T00:00:00Z', end_time: new Date().toISOString() },
    });
    await eventually(
      () => storage.openUploads().length === 1,
      () => 'the upload was never begun',
    );
    await kill();
    await storage.break(null);
    assert.is(storage.openUploads().length, 1);
    assert.equal(await filesOf('expkilled'), []);
    await exporter.start();
    const run = await endedRun(tenant, task_id);
    assert.equal(
      [run.task_status, run.total_records, run.metadata.attempts],
      ['COMPLETED', 640, '2'],
    );
  } finally {
    await storage.break(null);
    await kill();
  }
  assert.equal(storage.openUploads(), []);
  const files = await filesOf('expkilled');
  assert.is(files.length, 1);
  const seen = files.flatMap(({ lines }) => lines.map((line) => JSON.parse(line).id));
  assert.equal(seen.sort(), ids.sort());
});

test.run();

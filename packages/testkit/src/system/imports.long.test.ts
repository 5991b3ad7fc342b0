import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@counterfoil/local';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { startInstallation } from './installation.ts';
import { openings } from './openings.ts';
import { endEverything, untilRuns } from './usage-kills.ts';

const test = suite('large imports under kills');

const customers = 100_000;
const events = 1_000_000;
/** One of so many rows is bad. */
const badEvery = 1_000;
const partBytes = 8 * 1024 * 1024;

/** The lines of a file, and of them every so many a bad one. */
function* linesOf(count: number, good: (index: number) => string, bad: string): Generator<string> {
  for (let index = 0; index < count; index += 1) {
    yield index % badEvery === badEvery - 1 ? bad : good(index);
  }
}

type Api = ReturnType<typeof caller>;

/** Makes a task and sends it a file in parts. */
async function imported(api: Api, body: object, head: string, lines: Generator<string>) {
  const { id } = await api.ok('POST', '/tasks', { task_type: 'IMPORT', ...body });
  let part = head;
  let offset = 0;
  const send = async (isLast: boolean): Promise<void> => {
    const query = `offset=${offset}&complete=${isLast}`;
    const headers = { 'content-type': 'application/octet-stream' };
    const { received_bytes } = await api.ok('PUT', `/tasks/${id}/file?${query}`, part, headers);
    offset = received_bytes;
    part = '';
  };
  for (const line of lines) {
    part += `${line}\n`;
    if (part.length >= partBytes) await send(false);
  }
  await send(true);
  return id as string;
}

/** The task, once it is there and as a test wants it. */
const untilTask = (api: Api, id: string, isWanted: (task: Task) => boolean): Promise<Task> =>
  eventually(
    async () => {
      const answer = await api.call('GET', `/tasks/${id}`).catch(() => null);
      return answer?.status === 200 && isWanted(answer.body) && (answer.body as Task);
    },
    () => `${id} does not get on`,
    1_800_000,
  );

interface Task {
  readonly task_status: string;
  readonly processed_records: number;
  readonly successful_records: number;
  readonly failed_records: number;
}

const badLinesOf = async (api: Api, id: string): Promise<number[]> => {
  const { text } = await api.call('GET', `/tasks/${id}/download`);
  const lines = text.split('\n').filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as { line: number }).line);
};

const badLines = (count: number, headLines: number): number[] =>
  Array.from({ length: count / badEvery }, (_, index) => (index + 1) * badEvery + headLines);

test('100,000 customers and 1,000,000 events, killed twice each, are there once, and the bad rows listed', async () => {
  const opened = openings();
  try {
    const folder = opened.add(mkdtempSync(join(tmpdir(), 'counterfoil-imports-')), async (path) =>
      rmSync(path, { recursive: true, force: true }),
    );
    const settings = { LOG_LEVEL: 'error', RATE_LIMIT_PER_SECOND: '1000000' };
    const installation = await startInstallation({ folder, port: await freePort(), settings });
    opened.add(null, () => endEverything(installation));
    const api = caller(installation.baseUrl, installation.apiKey);
    await api.untilKnown();

    /** Kills the api twice on the way, and waits for the end. */
    const underKills = async (id: string, rows: number): Promise<Task> => {
      for (const share of [0.25, 0.6]) {
        await untilTask(api, id, ({ processed_records }) => processed_records >= rows * share);
        const pid = await untilRuns(installation, 'api');
        process.kill(pid, 'SIGKILL');
        await untilRuns(installation, 'api', pid);
      }
      return untilTask(api, id, ({ task_status }) => task_status === 'COMPLETED');
    };

    const ofCustomers = await imported(
      api,
      { entity_type: 'CUSTOMERS', file_type: 'CSV' },
      'name,external_id\n',
      linesOf(customers, (index) => `Customer ${index},large-${index}`, ',nameless'),
    );
    const first = await underKills(ofCustomers, customers);
    const bad = customers / badEvery;
    assert.equal([first.successful_records, first.failed_records], [customers - bad, bad]);
    assert.equal(await badLinesOf(api, ofCustomers), badLines(customers, 1));
    await eventually(async () => {
      const { pagination } = await api.ok('POST', '/customers/search', { limit: 1 });
      return pagination.total >= customers - bad;
    });
    const { pagination } = await api.ok('POST', '/customers/search', { limit: 1 });

    const event = (index: number) =>
      `{"event_name":"large","external_customer_id":"large-${index % 100}","properties":{"n":1}}`;
    const ofEvents = await imported(
      api,
      { entity_type: 'EVENTS', file_type: 'NDJSON' },
      '',
      linesOf(events, event, '{"event_name":"large"}'),
    );
    const second = await underKills(ofEvents, events);
    const badEvents = events / badEvery;
    assert.equal(
      [second.successful_records, second.failed_records],
      [events - badEvents, badEvents],
    );
    assert.equal(await badLinesOf(api, ofEvents), badLines(events, 0));
    const counted = await eventually(
      async () => {
        const query = { event_name: 'large', aggregation_type: 'COUNT' };
        const { total_value } = await api.ok('POST', '/events/usage', query);
        return Number(total_value) >= events - badEvents && total_value;
      },
      () => 'the events are not shown',
      600_000,
    );
    assert.is(counted, String(events - badEvents));
    // The installation has customers of its own, of the demo tenant's beginning.
    assert.ok(
      pagination.total - (customers - bad) < 100,
      `there are ${pagination.total} customers`,
    );
  } finally {
    await opened.closeAll();
  }
});

test.run();

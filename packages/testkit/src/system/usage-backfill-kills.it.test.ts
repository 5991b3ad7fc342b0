import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verify } from '@counterfoil/cli/verify';
import { freePort } from '@counterfoil/local';
import { Client } from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Caller, caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { untilAccepted } from './insist.ts';
import { type Installation, startInstallation } from './installation.ts';
import { openings } from './openings.ts';
import { endEverything, untilRuns, untilShown } from './usage-kills.ts';

const test = suite('a projector that is killed while a backfill is closed');

const requests = 4;
const eventsOfRequest = 500;
const events = requests * eventsOfRequest;
const span = { start_time: '2026-05-01T00:00:00.000Z', end_time: '2026-06-01T00:00:00.000Z' };

const eventOf = (request: number, number: number) => ({
  event_name: 'tokens',
  external_customer_id: `customer-${number % 5}`,
  event_id: `${request}-${number}`,
  timestamp: '2026-05-01T00:00:00.000Z',
  properties: { count: 2 },
});

test('none of it counts until the closing is done again, and then each event once', async () => {
  const opened = openings();
  try {
    const folder = opened.add(
      mkdtempSync(join(tmpdir(), 'counterfoil-backfill-kills-')),
      async (path) => rmSync(path, { recursive: true, force: true }),
    );
    const settings = { LOG_LEVEL: 'error', RATE_LIMIT_PER_SECOND: '1000000' };
    const installation = await startInstallation({ folder, port: await freePort(), settings });
    opened.add(null, () => endEverything(installation));
    const api = caller(installation.baseUrl, installation.apiKey);
    const meter = { name: 'Tokens', event_name: 'tokens' };
    const aggregation = { type: 'SUM', field: 'count' };
    const made = await send(api, '/meters', { ...meter, aggregation });
    const backfill = await send(api, '/events/backfills', { source: 'killed', ...span });
    const path = `/events/backfills/${backfill.body.id}`;
    let last = positionOf(backfill);
    for (let request = 0; request < requests; request += 1) {
      const some = Array.from({ length: eventsOfRequest }, (_, number) => eventOf(request, number));
      last = positionOf(await send(api, `${path}/events`, { events: some }));
    }
    await untilShown(api, last);

    const closing = await killInTheMiddle(installation, () => send(api, `${path}/close`));
    await untilShown(api, positionOf(closing));
    const { body } = await api.call('GET', path);
    assert.equal([body.backfill_status, body.waiting, body.counted], ['closed', 0, events]);
    const question = { meter_id: made.body.id, ...span };
    const usage = await api.call('POST', '/events/usage/meter', question);
    assert.is(usage.body.total_value, String(2 * events));
    const lines: string[] = [];
    assert.ok(await verify(installation, (line) => lines.push(line)), lines.join('\n'));
  } finally {
    await opened.closeAll();
  }
});

const send = (api: Caller, path: string, body?: unknown) =>
  untilAccepted(() => api.call('POST', path, body), path);

const positionOf = (answer: { readonly headers: Headers }): bigint =>
  BigInt(answer.headers.get('counterfoil-position') ?? 0);

/**
 * Kills the projector while it is in the transaction of what an act has led to: it is held there, after it has begun to
 * change tables, by a lock on the identities of usage. Nothing else may be under way that writes some.
 */
async function killInTheMiddle<Result>(
  installation: Installation,
  act: () => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString: installation.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ schema: string }>(
      `select table_schema as schema from information_schema.tables where table_name = 'waiting_event'`,
    );
    const schema = rows[0]?.schema;
    await client.query('begin');
    // Readers go on, writers wait.
    await client.query(`lock table ${schema}.identity in exclusive mode`);
    const done = await act();
    await eventually(
      async () => {
        const held = await client.query(
          `select from pg_locks where not granted and relation = '${schema}.identity'::regclass`,
        );
        return held.rows.length > 0;
      },
      () => 'the closing never came to the identities',
    );
    const shown = await client.query(`select count(*)::int as counted from ${schema}.event`);
    assert.equal(shown.rows, [{ counted: 0 }]);
    const pid = await untilRuns(installation, 'projector');
    process.kill(pid, 'SIGKILL');
    await untilRuns(installation, 'projector', pid);
    await client.query('rollback');
    return done;
  } finally {
    await client.end();
  }
}

test.run();

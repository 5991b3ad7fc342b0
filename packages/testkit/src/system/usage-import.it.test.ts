import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeOptions } from '../node-options.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('counterfoil usage');

const program = fileURLToPath(import.meta.resolve('@counterfoil/cli'));

let stack: SharedStack;
let tenant: TestTenant;
let folder: string;
test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-usage-import-'));
  stack = await sharedStack();
  tenant = await stack.tenant('usage-import');
  await untilUsageIsShown(tenant);
});
test.after(async () => {
  rmSync(folder, { recursive: true, force: true });
});

interface Outcome {
  readonly code: number;
  readonly lines: readonly string[];
}

/** Runs the import of a file as an operator does. */
const importing = (file: string, ...options: readonly string[]): Promise<Outcome> =>
  usage('import', file, ...options);

/** Runs a command about usage. */
const usage = (...words: readonly string[]): Promise<Outcome> =>
  new Promise((resolve) => {
    const place = ['--url', stack.baseUrl, '--key', tenant.apiKey];
    const command = [...nodeOptions, program, 'usage', ...words, ...place];
    execFile(process.execPath, command, (error, out, fault) =>
      resolve({ code: Number(error?.code ?? 0), lines: `${out}${fault}`.trim().split('\n') }),
    );
  });

const written = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

/** The last line without the time that it took. */
const summaryOf = ({ lines }: Outcome): string | undefined => lines.at(-1)?.replace(/ in .*/, '');

const sumOf = async (externalCustomerId: string): Promise<string> => {
  const { total_value } = await tenant.ok('POST', '/events/usage', {
    event_name: 'tokens',
    external_customer_id: externalCustomerId,
    aggregation_type: 'SUM',
    property_name: 'count',
    start_time: '2026-01-01T00:00:00Z',
    end_time: '2026-02-01T00:00:00Z',
  });
  return total_value;
};

test('a CSV file is recorded, its bad lines are told, and the same file again changes nothing', async () => {
  const rows = Array.from({ length: 2_200 }, (_, index) =>
    index === 1_500
      ? ',csv,2026-01-15T00:00:00Z,0.1'
      : `tokens,csv,2026-01-15T00:00:00Z,${index % 2 === 0 ? '0.1' : '0.2'}`,
  );
  const header = 'event_name,external_customer_id,timestamp,properties.count';
  const file = written('usage.csv', [header, ...rows, 'tokens,csv'].join('\n'));
  const refused = join(folder, 'refused.ndjson');
  const first = await importing(file, '--refused', refused);
  assert.is(first.code, 1, first.lines.join('\n'));
  assert.is(summaryOf(first), '2,201 events: 2,199 recorded, 0 were there already, 2 refused');
  const told = readFileSync(refused, 'utf8').trim().split('\n');
  assert.equal(
    told.map((line) => JSON.parse(line)).map(({ line, error }) => [line, error]),
    [
      [1_502, 'event_name: is required'],
      [2_202, 'has 2 cells where the header has 4'],
    ],
  );
  assert.is(await sumOf('csv'), '329.9');
  assert.is(
    summaryOf(await importing(file)),
    '2,201 events: 0 recorded, 2,199 were there already, 2 refused',
  );
  assert.is(await sumOf('csv'), '329.9');
});

test('NDJSON is recorded as it stands, and a number that JSON would round is refused with its line', async () => {
  const eventOf = (count: string) =>
    `{"event_name":"tokens","external_customer_id":"lines","timestamp":"2026-01-15T00:00:00Z",` +
    `"properties":{"count":${count}}}`;
  const counts = ['0.1', '"0.123456789012345"', '12345678901234567.1', '2'];
  const file = written('usage.ndjson', counts.map(eventOf).join('\n'));
  const outcome = await importing(file);
  assert.is(outcome.code, 1);
  assert.match(outcome.lines[0] ?? '', /^! line 3: .*12345678901234567\.1 exactly/);
  assert.is(summaryOf(outcome), '4 events: 3 recorded, 0 were there already, 1 refused');
  assert.is(await sumOf('lines'), '2.223456789012345');
});

test('a file that is not there, or of no known kind, is one sentence', async () => {
  for (const [file, message] of [
    [join(folder, 'none.csv'), /There is no file/],
    [written('usage.txt', ''), /--format csv or --format ndjson/],
    [written('wrong.csv', 'colour\nred'), /no column "colour"/],
  ] as const) {
    const { code, lines } = await importing(file);
    assert.equal([code, lines.length], [2, 1]);
    assert.match(lines[0] ?? '', message);
  }
});

test('a file fills a backfill, and is refused as a whole when that has ended', async () => {
  const { id } = await tenant.ok('POST', '/events/backfills', {
    source: 'file',
    start_time: '2026-01-01T00:00:00Z',
    end_time: '2026-02-01T00:00:00Z',
  });
  const header = 'event_name,external_customer_id,timestamp,properties.count';
  const rows = ['15', '16'].map((day) => `tokens,waiting,2026-01-${day}T00:00:00Z,2`);
  const wrong = 'tokens,waiting,2026-02-15T00:00:00Z,2';
  const file = written('backfill.csv', [header, ...rows, wrong].join('\n'));
  const first = await importing(file, '--backfill', id);
  assert.equal(
    [first.code, summaryOf(first)],
    [1, '3 events: 2 recorded, 0 were there already, 1 refused'],
  );
  await tenant.ok('POST', `/events/backfills/${id}/revert`);
  const late = await importing(file, '--backfill', id);
  assert.is(late.code, 2);
  assert.match(late.lines.at(-1) ?? '', /The backfill was reverted/);
});

test('credentials are issued into a file of their own, listed and revoked', async () => {
  const file = join(folder, 'usage.creds');
  const issued = await usage('credentials', 'issue', 'Models', '--file', file);
  assert.is(issued.code, 0, issued.lines.join('\n'));
  const { id, subject, credentials, ...rest } = JSON.parse(issued.lines.join('\n'));
  assert.equal([credentials, rest.file], [undefined, file]);
  assert.match(readFileSync(file, 'utf8'), /BEGIN NATS USER JWT/);
  assert.is(statSync(file).mode & 0o777, 0o600);
  const taken = await usage('credentials', 'issue', 'Models', '--file', file);
  assert.is(taken.code, 2);
  assert.match(taken.lines.join('\n'), /Revoke ucred_/);
  const shown = await usage(
    'credentials',
    'issue',
    'Others',
    '--expires-at',
    '2035-01-01T00:00:00Z',
  );
  const other = JSON.parse(shown.lines.join('\n'));
  assert.match(other.credentials, /BEGIN NATS USER JWT/);
  assert.is((await usage('credentials', 'revoke', other.id)).lines[0], 'Revoked.');
  const { lines } = await usage('credentials', 'list');
  const own = lines.filter((line) => line.startsWith(`${id}  Models  key secret_`));
  assert.is(own.length, 1, lines.join('\n'));
  assert.ok(own[0]?.endsWith(`  expires never  ${subject}`));
  assert.not.ok(lines.some((line) => line.startsWith(other.id)));
});

test('an event is explained, and one that is unknown is told', async () => {
  const event = {
    event_name: 'explained',
    external_customer_id: 'nobody',
    event_id: 'explained/1',
  };
  await tenant.ok('POST', '/events', { ...event, timestamp: '2026-01-15T00:00:00Z' });
  const explained = await usage('explain', 'explained/1');
  assert.is(explained.code, 0, explained.lines.join('\n'));
  assert.is(explained.lines[0], 'explained/1: processing');
  assert.is(explained.lines.at(-1), '  ! No meter counts events of the name explained.');
  const { lines } = await usage('explain', 'explained/1', '--json');
  assert.is(JSON.parse(lines.join('\n')).event.id, 'explained/1');
  const unknown = await usage('explain', 'explained/2');
  assert.is(unknown.code, 2);
  assert.match(unknown.lines[0] ?? '', /explained\/2/);
});

test.run();

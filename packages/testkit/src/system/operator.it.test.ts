import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '@counterfoil/local';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type Installation, processNames, startInstallation } from './installation.ts';
import { openings } from './openings.ts';
import { runProgram } from './run-program.ts';

const test = suite('what an operator does with an installation');

/** Longer than processes take to end on a machine that is busy with other things. */
const endMilliseconds = 300_000;

const opened = openings();
const folder = mkdtempSync(join(tmpdir(), 'counterfoil-operator-'));
let installation: Installation;

const start = () => startInstallation({ folder, port: 0, settings: { LOG_LEVEL: 'error' } });

test.before(async () => {
  opened.add(folder, async (path) => rmSync(path, { recursive: true, force: true }));
  installation = await start();
  opened.add(null, () => installation.kill());
});
test.after(opened.closeAll);

/** Runs the command line to its end, by default on the installation. */
const counterfoil = (words: readonly string[], settings: Record<string, string> = {}) =>
  runProgram('@counterfoil/cli', words, { COUNTERFOIL_DATA: folder, PORT: '0', ...settings });

/** The record that a command prints. */
async function made(...words: string[]) {
  const { status, stdout, stderr } = await counterfoil(words);
  assert.is(status, 0, stderr);
  return JSON.parse(stdout);
}

/** The lines of a refusal: what is wrong, without a stack. */
async function refusal(
  words: readonly string[],
  settings?: Record<string, string>,
): Promise<string[]> {
  const { status, stderr } = await counterfoil(words, settings);
  assert.is(status, 2, stderr);
  assert.not.match(stderr, /\n\s+at /);
  return stderr.trim().split('\n');
}

test('makes a tenant, an environment, a user and a key that works until it is revoked', async () => {
  const { id: tenant } = await made('tenants', 'create', '--name', 'Acme');
  const of = ['--tenant', tenant];
  const live = ['--name', 'Live', '--type', 'production'];
  const { id: environment } = await made('environments', 'create', ...of, ...live);
  const ada = ['--email', 'ada@acme.com', '--role', 'super_admin'];
  const { id: user } = await made('users', 'create', ...of, ...ada);
  const place = [...of, '--environment', environment];
  const key = await made('keys', 'create', ...place, '--user', user, '--name', 'first');

  const api = caller(installation.baseUrl, key.api_key);
  const customer = await api.ok('POST', '/customers', { external_id: 'a', name: 'A' });
  assert.equal([customer.tenant_id, customer.environment_id], [tenant, environment]);
  assert.ok((await counterfoil(['tenants', 'list'])).stdout.includes(tenant));
  assert.is((await made('environments', 'list', ...of)).id, environment);
  assert.is((await made('users', 'list', ...of)).id, user);
  assert.is((await made('keys', 'list', ...place)).id, key.id);

  assert.is((await counterfoil(['keys', 'revoke', key.id, ...place])).status, 0);
  assert.is((await api.call('GET', '/users/me')).status, 401);
});

test('the keys of tenants and of the operator count in their own place only', async () => {
  const { operator_url, operator_key } = JSON.parse(
    readFileSync(join(folder, 'demo.json'), 'utf8'),
  );
  const { baseUrl, apiKey } = installation;
  assert.is((await caller(operator_url, operator_key).call('GET', '/tenants')).status, 200);
  assert.is((await caller(operator_url, apiKey).call('GET', '/tenants')).status, 401);
  assert.is((await caller(baseUrl, operator_key).call('GET', '/users/me')).status, 401);
  assert.is((await caller(baseUrl, apiKey).call('GET', '/tenants')).status, 404);
});

test('a wrong command line is told in a few lines', async () => {
  const refusals = [
    [['tenants', 'create'], /--name/],
    [['tenants', 'creat'], /unknown command/],
    [['environments', 'list', '--tenant', 'a/b'], /no id/],
    [['users', 'list', '--tenant', 'tenant_x'], /There is no tenant/],
  ] as const;
  for (const [words, told] of refusals) assert.match((await refusal(words)).join(), told);
});

test('a server that is away, a wrong password and a wrong setting are one sentence, at once', async () => {
  const other = { COUNTERFOIL_DATA: mkdtempSync(join(folder, 'other-')) };
  const database = installation.databaseUrl.replace(/:[^:@/]+@/, ':wrong@');
  const told = async (settings: Record<string, string>) => {
    const lines = await refusal(['up'], { ...other, ...settings });
    assert.is(lines.length, 1, lines.join('\n'));
    return lines.join();
  };
  const refused = /refuses the user and password of DATABASE_URL/;
  assert.match(await told({ DATABASE_URL: database }), refused);
  const away = 'esdb://127.0.0.1:1?tls=false';
  assert.match(await told({ EVENTSTORE_URL: away }), /event store .* does not answer/);
  const started = ['eventstore', 'postgres', 'nats'].map((name) =>
    existsSync(join(other.COUNTERFOIL_DATA, name)),
  );
  assert.equal(started, [false, false, false], 'nothing was started before');
  const lines = await refusal(['up'], { ...other, LOG_LEVEL: 'loud' });
  assert.match(lines.join(), /LOG_LEVEL/);
  const verified = await refusal(['verify'], { EVENTSTORE_URL: away });
  assert.match(verified.join(), /does not answer/);
});

test('each service tells in one sentence that a server refuses it, and exits 2', async () => {
  const settings = {
    EVENTSTORE_URL: installation.eventStoreUrl,
    DATABASE_URL: installation.databaseUrl.replace(/:[^:@/]+@/, ':wrong@'),
    NATS_URL: installation.natsUrl,
    COUNTERFOIL_SECRET_KEY: 'ab'.repeat(32),
    LOG_LEVEL: 'error',
  };
  for (const program of ['api', 'projector', 'webhooks']) {
    const main = `../../../../apps/${program}/src/main.ts`;
    const { status, stdout, stderr } = await runProgram(
      new URL(main, import.meta.url).href,
      [],
      settings,
    );
    assert.is(status, 2, `${program}: ${stdout}${stderr}`);
    assert.match(stderr, /^PostgreSQL refuses the user and password of DATABASE_URL.*\n$/);
  }
});

test('a second data folder is kept from a log that another installation works on', async () => {
  const settings = {
    COUNTERFOIL_DATA: mkdtempSync(join(folder, 'second-')),
    EVENTSTORE_URL: installation.eventStoreUrl,
  };
  const lines = await refusal(['up'], settings);
  assert.is(lines.length, 1, lines.join('\n'));
  assert.match(lines.join(), /begun by an installation with another secret key/);
});

test('the installation starts again when its demo key has been revoked', async () => {
  const { ok } = caller(installation.baseUrl, installation.apiKey);
  const { items } = await ok('GET', '/secrets/api/keys');
  await ok('DELETE', `/secrets/api/keys/${items[0].id}`);
  // Processes that still end would keep the data folder from the next start.
  const pids = processNames.flatMap((name) => installation.pidOf(name) ?? []);
  await installation.kill();
  await eventually(
    () => !pids.some(isRunning),
    () => `still running: ${pids.filter(isRunning)}`,
    endMilliseconds,
  );
  installation = await start();
  const demo = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8'));
  assert.is(demo.api_key, null);
  assert.match((await refusal(['catalog', 'export'])).join(), /keys create/);
  const { tenant_id, environment_id, user_id } = demo;
  const place = ['--tenant', tenant_id, '--environment', environment_id];
  const key = await made('keys', 'create', ...place, '--user', user_id, '--name', 'demo');
  const me = await caller(installation.baseUrl, key.api_key).ok('GET', '/users/me');
  assert.is(me.id, user_id);
});

test.run();

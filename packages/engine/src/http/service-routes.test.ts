import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { HealthReport } from '../operations/health.ts';
import { type Machine, startMachine } from './test-machine.ts';

const test = suite<{ machine: Machine; failing: Set<string> }>('service routes');

test.before(async (context) => {
  const failing = new Set<string>();
  const check = (name: string, required: boolean) => ({
    name,
    required,
    check: async () => {
      if (failing.has(name)) throw new Error(`${name} does not answer`);
    },
  });
  context.failing = failing;
  context.machine = await startMachine(undefined, {
    health: [check('store', true), check('feed', false)],
  });
});
test.before.each(({ failing }) => failing.clear());
test.after(({ machine }) => machine.server.close(100));

test('/healthz says that the process is alive, without a key', async ({ machine, failing }) => {
  failing.add('store');
  const answer = await machine.request('GET', '/healthz', { key: null });
  assert.is(answer.status, 200);
  assert.equal(answer.json(), { status: 'ok' });
});

test('/readyz names every check', async ({ machine }) => {
  const answer = await machine.request('GET', '/readyz', { key: null });
  assert.is(answer.status, 200);
  assert.equal(answer.json(), {
    ready: true,
    checks: [
      { name: 'http', required: true, status: 'ok' },
      { name: 'store', required: true, status: 'ok' },
      { name: 'feed', required: false, status: 'ok' },
    ],
  });
});

test('/readyz stays 200 when an optional check fails, and says so', async ({
  machine,
  failing,
}) => {
  failing.add('feed');
  const answer = await machine.request('GET', '/readyz', { key: null });
  assert.is(answer.status, 200);
  const failed = answer.json<HealthReport>().checks.at(-1);
  assert.equal(failed, {
    name: 'feed',
    required: false,
    status: 'failing',
    message: 'feed does not answer',
  });
});

test('/readyz is 503 when a required check fails', async ({ machine, failing }) => {
  failing.add('store');
  const answer = await machine.request('GET', '/readyz', { key: null });
  assert.is(answer.status, 503);
  assert.is(answer.headers.get('retry-after'), '1');
  assert.is(answer.json<HealthReport>().ready, false);
});

test('/metrics is in the format of Prometheus', async ({ machine }) => {
  const answer = await machine.request('GET', '/metrics', { key: null });
  assert.is(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  assert.match(answer.text, /# TYPE counterfoil_http_request_duration_seconds histogram/);
});

test('what machines ask all the time is not worth a line of log', async ({ machine }) => {
  machine.lines.length = 0;
  await machine.request('GET', '/healthz');
  assert.equal(
    machine.lines.map(({ level }) => level),
    [20],
  );
});

test('takes no other method', async ({ machine }) => {
  assert.is((await machine.request('POST', '/healthz')).status, 405);
});

test.run();

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type LogFile, openLogFile } from './log-file.ts';
import { isRunning } from './process-record.ts';
import { type SupervisedProcessOptions, superviseProcess } from './supervise.ts';
import { eventually } from './test-process.ts';

const test = suite('supervised process');
let folder: string;
let log: LogFile;
let shown: string[];

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-supervise-'));
  log = openLogFile(join(folder, 'counterfoil.log'));
  shown = [];
});
test.after.each(() => {
  log.close();
  rmSync(folder, { recursive: true, force: true });
});

const logged = () => readFileSync(log.path, 'utf8').trim().split('\n');
const READY = `echo '{"event":"ready","port":4000}'`;
const WAIT = 'while :; do sleep 0.02; done';
/** Said before anything that a test waits for, so that the signal cannot come first. */
const FAREWELL = 'trap "echo bye; exit 0" TERM;';

function shell(script: string, more: Partial<SupervisedProcessOptions> = {}) {
  return superviseProcess({
    ...{ name: 'api', command: '/bin/sh', args: ['-c', `${FAREWELL} ${script}`], env: process.env },
    ...{ ready: 'json-line', restart: { initialDelayMs: 1, maxDelayMs: 10 }, log },
    errors: (line) => void shown.push(line),
    ...more,
  });
}

test('is ready when it says so, and its output is in the log to the last line', async () => {
  const kept = shell(`echo starting; echo '{"event":"other"}'; ${READY}; ${WAIT}`);
  const { readyLine, pid } = await kept.ready;
  assert.equal(readyLine, { event: 'ready', port: 4000 });
  assert.is(kept.pid(), pid);
  await kept.stop();
  assert.not(isRunning(pid));
  assert.equal(logged(), [
    'api | starting',
    'api | {"event":"other"}',
    'api | {"event":"ready","port":4000}',
    'api | bye',
  ]);
  assert.equal(shown, []);
});

test('shows and logs what it prints to standard error', async () => {
  const kept = shell(`echo trouble >&2; ${READY}; ${WAIT}`);
  await kept.ready;
  await kept.stop();
  assert.equal(shown, ['api | trouble']);
  assert.ok(logged().includes('api | trouble'));
});

test('is started again when it is killed', async () => {
  const kept = shell(`${READY}; ${WAIT}`);
  const { pid } = await kept.ready;
  process.kill(pid, 'SIGKILL');
  await eventually('another one runs', () => kept.pid() !== undefined && kept.pid() !== pid);
  assert.is(kept.restarts(), 1);
  assert.equal(shown, ['api ended unexpectedly (signal SIGKILL)']);
  await kept.stop();
});

test('fails with its last words when it ends before it is ready', async () => {
  const restart = { initialDelayMs: 1, maxDelayMs: 1, startAttemptsMax: 2 };
  const kept = shell('echo "DATABASE_URL is missing" >&2; exit 3', { restart });
  const failure = await kept.ready.catch((error: unknown) => error);
  assert.match(String(failure), /exit code 3 before it was ready\nDATABASE_URL is missing/);
  assert.is(logged().filter((line) => line === 'api | DATABASE_URL is missing').length >= 2, true);
  await kept.stop();
});

test('fails when it is not ready in time, and does not stay behind', async () => {
  const restart = { initialDelayMs: 1, maxDelayMs: 1, startAttemptsMax: 1 };
  // On a busy machine a shell may need longer than that until it has said its pid.
  for (let readyLimitMs = 50; !logged()[0]; readyLimitMs *= 4) {
    const kept = shell('echo "$$"; exec sleep 600', { restart, readyLimitMs });
    const failure = await kept.ready.catch((error: unknown) => error);
    assert.match(String(failure), /signal SIGKILL before it was ready/);
    await kept.stop();
  }
  const pid = Number(logged()[0]?.split('| ')[1]);
  assert.not(isRunning(pid));
});

test('can be stopped before it is ready', async () => {
  const kept = shell(`echo up; ${WAIT}`);
  await eventually('it is up', () => logged().includes('api | up'));
  await kept.stop();
  assert.ok(logged().includes('api | bye'));
});

test('is killed when it does not stop in time', async () => {
  const stubborn = 'trap "" TERM; while :; do sleep 0.02; done';
  const kept = shell(`${READY}; ${stubborn}`, { stopLimitMs: 50 });
  const { pid } = await kept.ready;
  await kept.stop();
  assert.not(isRunning(pid));
});

test.run();

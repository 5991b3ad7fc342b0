import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type GuardedProcessOptions, spawnGuarded } from './guarded-process.ts';
import { linesOf } from './lines.ts';
import { AlreadyRunningError, isRunning, settlePredecessor } from './process-record.ts';
import { eventually, runElsewhere } from './test-process.ts';

const test = suite('guarded process');
let folder: string;

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-guard-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

const STUBBORN = 'trap "" TERM INT; echo up; while :; do sleep 0.02; done';
const OBEDIENT = 'trap "exit 7" TERM; echo up; while :; do sleep 0.02; done';

function shell(script: string, more: Partial<GuardedProcessOptions> = {}): GuardedProcessOptions {
  return {
    ...{ command: '/bin/sh', args: ['-c', script], env: process.env },
    ...{ stopSignal: 'SIGTERM', stopLimitMs: 10_000, output: 'pipe' },
    ...more,
  };
}

/** Another process that starts a shell script and prints its pid once the script is up. */
const startsElsewhere = (script: string, stopLimitMs: number, before = '') => `
  import { spawnGuarded } from './guarded-process.ts';
  import { linesOf } from './lines.ts';
  ${before}
  const child = spawnGuarded({
    command: '/bin/sh', args: ['-c', ${JSON.stringify(script)}], env: process.env,
    stopSignal: 'SIGTERM', stopLimitMs: ${stopLimitMs}, output: 'pipe',
    recordFile: ${JSON.stringify(join(folder, 'record.json'))},
  });
  await linesOf(child.stdout).next();
  console.log(child.pid);`;

test('runs under the pid that was given out, with its arguments as they are', async () => {
  const child = spawnGuarded(shell('echo "$$ $1"', { args: ['-c', 'echo "$$ $1"', 'sh', 'a  b'] }));
  const lines = linesOf(child.stdout ?? process.stdin);
  assert.is((await lines.next()).value, `${child.pid} a  b`);
  assert.equal(await child.exited, { code: 0, signal: null });
});

const hasChrt = spawnSync('chrt', ['--version']).status === 0;
/** The policy of a process that is batch work, as Linux numbers it. */
const batch = '3';

(hasChrt ? test : test.skip)('is batch work, and what it starts is so too', async () => {
  const policy = 'cut -d " " -f 41 "/proc/$1/stat"';
  const child = spawnGuarded(shell(`set -- $$; ${policy}; set -- self; ${policy}`));
  const lines = linesOf(child.stdout ?? process.stdin);
  assert.equal([(await lines.next()).value, (await lines.next()).value], [batch, batch]);
});

test('stops by its signal and tells how it ended', async () => {
  const child = spawnGuarded(shell(OBEDIENT));
  await linesOf(child.stdout ?? process.stdin).next();
  assert.equal(await child.stop(), { code: 7, signal: null });
  assert.equal(await child.stop(), { code: 7, signal: null });
});

test('is killed when it does not stop within the limit', async () => {
  const child = spawnGuarded(shell(STUBBORN, { stopLimitMs: 50 }));
  await linesOf(child.stdout ?? process.stdin).next();
  assert.equal(await child.stop(), { code: null, signal: 'SIGKILL' });
});

test('appends what it prints to a file', async () => {
  const file = join(folder, 'log');
  const text = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  for (const word of ['one', 'two']) {
    const script = `echo ${word} >&2; ${OBEDIENT}`;
    const child = spawnGuarded(shell(script, { output: { file } }));
    await eventually('it has printed', () => text().endsWith(`${word}\nup\n`));
    await child.stop();
  }
  assert.is(text(), 'one\nup\ntwo\nup\n');
});

test('ends when its parent is killed', async () => {
  const parent = await runElsewhere(startsElsewhere(OBEDIENT, 5_000));
  const pid = Number(parent.firstLine);
  assert.ok(isRunning(pid));
  await parent.end('SIGKILL');
  await eventually('the child has ended', () => !isRunning(pid));
});

test('ends when its parent is killed even if it does not listen', async () => {
  const parent = await runElsewhere(startsElsewhere(STUBBORN, 100));
  const pid = Number(parent.firstLine);
  await parent.end('SIGKILL');
  await eventually('the child has ended', () => !isRunning(pid));
});

test('does not receive the Ctrl-C that its parent receives', async () => {
  const ignore = "process.on('SIGINT', () => console.log('interrupted'));";
  const parent = await runElsewhere(startsElsewhere(OBEDIENT, 5_000, ignore));
  const pid = Number(parent.firstLine);
  // What a terminal does: the signal goes to the whole process group of the parent.
  process.kill(-(parent.child.pid ?? 0), 'SIGINT');
  assert.ok(parent.child.stdout);
  assert.is((await linesOf(parent.child.stdout).next()).value, 'interrupted');
  assert.ok(isRunning(pid));
  await parent.end('SIGKILL');
  await eventually('the child has ended', () => !isRunning(pid));
});

test('may not be settled by another process while its parent lives', async () => {
  const parent = await runElsewhere(startsElsewhere(OBEDIENT, 5_000));
  const failure = await settlePredecessor(join(folder, 'record.json')).catch((error) => error);
  assert.instance(failure, AlreadyRunningError);
  assert.ok(isRunning(Number(parent.firstLine)));
  await parent.end('SIGKILL');
  await settlePredecessor(join(folder, 'record.json'));
  assert.not(isRunning(Number(parent.firstLine)));
  assert.not(existsSync(join(folder, 'record.json')));
});

test('leaves no record when it has ended', async () => {
  const recordFile = join(folder, 'record.json');
  const child = spawnGuarded(shell(OBEDIENT, { recordFile }));
  await linesOf(child.stdout ?? process.stdin).next();
  assert.ok(existsSync(recordFile));
  await child.kill();
  assert.not(existsSync(recordFile));
});

test.run();

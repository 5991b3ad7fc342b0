import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { processIdentity } from './process-identity.mjs';
import { acquireProcessLock } from './process-lock.mjs';

const test = suite('process lock');
let folder: string;

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-lock-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Another process that takes the lock, says what it got, and lives until it is killed. Those that are
 * given the same instant try at the same time.
 */
async function contender(
  file: string,
  instantMs = 0,
): Promise<{ child: ChildProcess; answer: string }> {
  const module = JSON.stringify(join(import.meta.dirname, 'process-lock.mjs'));
  const script = `import { acquireProcessLock } from ${module};
    while (Date.now() < ${instantMs});
    try {
      console.log(acquireProcessLock(${JSON.stringify(file)}).acquired);
    } catch (error) {
      console.log(String(error));
    }
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [chunk] = await once(child.stdout, 'data');
  return { child, answer: String(chunk).trim() };
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

test('is held by one process and names it to the others', async () => {
  const file = join(folder, 'lock');
  const { child, answer } = await contender(file);
  assert.is(answer, 'true');
  assert.equal(acquireProcessLock(file), { acquired: false, pid: child.pid });
  await kill(child);
});

test('is taken over from a dead process', async () => {
  const file = join(folder, 'lock');
  const { child } = await contender(file);
  await kill(child);
  assert.ok(acquireProcessLock(file).acquired);
});

test('is taken over when another process has the pid by now', () => {
  const file = join(folder, 'lock');
  writeFileSync(file, JSON.stringify({ pid: process.ppid, identity: 'of an earlier process' }));
  assert.ok(acquireProcessLock(file).acquired);
});

test('goes to exactly one of many who come at once upon a stale lock', async () => {
  const file = join(folder, 'lock');
  writeFileSync(file, JSON.stringify({ pid: process.ppid, identity: 'of an earlier process' }));
  const instantMs = Date.now() + 500;
  const contenders = await Promise.all(Array.from({ length: 6 }, () => contender(file, instantMs)));
  const winners = contenders.filter((each) => each.answer === 'true');
  const losers = contenders.filter((each) => each.answer === 'false');
  await Promise.all(contenders.map((each) => kill(each.child)));
  assert.is(winners.length, 1);
  assert.is(losers.length, 5);
});

test('leaves nothing behind when released', () => {
  const lock = acquireProcessLock(join(folder, 'lock'));
  assert.ok(lock.acquired);
  lock.release();
  assert.equal(readdirSync(folder), []);
});

test('identity differs between processes and is undefined for a dead one', async () => {
  const { child } = await contender(join(folder, 'lock'));
  assert.type(processIdentity(child.pid ?? 0), 'string');
  assert.not(processIdentity(child.pid ?? 0) === processIdentity(process.pid));
  await kill(child);
  assert.is(processIdentity(child.pid ?? 0), undefined);
});

test.run();

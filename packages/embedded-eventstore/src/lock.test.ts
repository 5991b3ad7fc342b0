import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DirectoryLockedError, lockDirectory } from './lock.ts';
import { temporaryDirectory } from './test-server.ts';

const test = suite<{ directory: string }>('directory lock');

test.before.each(async (context) => {
  context.directory = await temporaryDirectory();
});
test.after.each(({ directory }) => rm(directory, { recursive: true }));

const PROGRAM = `
  const { lockDirectory } = await import(${JSON.stringify(new URL('./lock.ts', import.meta.url).href)});
  try {
    lockDirectory(process.argv[1]);
    console.log('locked');
  } catch (error) {
    console.log(error.message);
  }
  process.stdin.resume().on('end', () => process.exit());
`;

/** Starts a process that tries to lock the directory and then stays; returns its output. */
async function contend(directory: string): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [chunk] = await once(child.stdout ?? child, 'data');
  return { child, said: String(chunk).trim() };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

test('one of several processes that start together gets it', async ({ directory }) => {
  const contenders = await Promise.all(Array.from({ length: 4 }, () => contend(directory)));
  const winners = contenders.filter(({ said }) => said === 'locked');
  assert.is(winners.length, 1);
  const [winner] = winners;
  for (const { said } of contenders) {
    if (said !== 'locked') assert.match(said, 'is in use by');
  }
  const late = await contend(directory);
  assert.match(late.said, `in use by process ${winner?.child.pid}`);
  for (const { child } of [...contenders, late]) await end(child, 'SIGKILL');
});

test('a killed holder leaves the lock to the next', async ({ directory }) => {
  const holder = await contend(directory);
  assert.is(holder.said, 'locked');
  assert.throws(() => lockDirectory(directory), new RegExp(`process ${holder.child.pid}`));
  await end(holder.child, 'SIGKILL');
  const lock = lockDirectory(directory);
  assert.is(JSON.parse(await readFile(join(directory, 'writer.lock'), 'utf8')).pid, process.pid);
  lock.release();
});

test('excludes a second holder in the same process and can be taken again', ({ directory }) => {
  const lock = lockDirectory(directory);
  lock.describe('esdb://somewhere:1');
  try {
    lockDirectory(directory);
    assert.unreachable();
  } catch (error) {
    assert.instance(error, DirectoryLockedError);
    assert.match(String(error), `process ${process.pid} at esdb://somewhere:1`);
  }
  lock.release();
  lock.release();
  lockDirectory(directory).release();
});

test('whatever an earlier holder left in the file does not matter', async ({ directory }) => {
  await writeFile(join(directory, 'writer.lock'), 'not even JSON, and long enough to show through');
  lockDirectory(directory).release();
  const text = await readFile(join(directory, 'writer.lock'), 'utf8');
  assert.equal(JSON.parse(text), { pid: process.pid });
});

test.run();

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { EventStoreDBClient } from '@eventstore/db-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startEventStoreProcess } from './child-process.ts';
import { DirectoryLockedError, lockDirectory } from './lock.ts';
import { collect, numbered, refusal, revisionsOf, temporaryDirectory } from './test-server.ts';

const test = suite<{ directory: string }>('process');

test.before.each(async (context) => {
  context.directory = await temporaryDirectory();
});
test.after.each(({ directory }) => rm(directory, { recursive: true }));

const main = fileURLToPath(new URL('./main.ts', import.meta.url));

/** Runs the command to its end, and gives its exit code and error output. */
async function runMain(...options: string[]): Promise<{ code: number | null; errors: string }> {
  const child = spawn(process.execPath, [main, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const [code] = await once(child, 'close');
  return { code, errors };
}

test('serves from a process of its own and stops in order', async ({ directory }) => {
  const exits: unknown[] = [];
  const running = await startEventStoreProcess({ directory, onExit: (exit) => exits.push(exit) });
  const client = EventStoreDBClient.connectionString(running.connectionString);
  await client.appendToStream('a-1', numbered(0));
  // Ctrl-C in a terminal reaches the whole process group, but ending the store is the parent's task.
  process.kill(running.pid, 'SIGINT');
  await client.appendToStream('a-1', numbered(1));
  await collect(client.readAll());
  await client.dispose();
  await running.stop();
  assert.equal(exits, [{ code: 0, signal: null }]);

  const again = await startEventStoreProcess({ directory });
  assert.is(again.generation, running.generation);
  const reader = EventStoreDBClient.connectionString(again.connectionString);
  assert.equal(revisionsOf(await collect(reader.readStream('a-1'))), [0, 1]);
  await reader.dispose();
  await again.stop();
});

test('says in one line why it cannot start', async ({ directory }) => {
  const running = await startEventStoreProcess({ directory });
  const locked = await runMain('--directory', directory, '--port', '0');
  assert.is(locked.code, 1);
  assert.match(locked.errors, `in use by process ${running.pid} at ${running.connectionString}`);
  assert.is(locked.errors.trim().split('\n').length, 1);

  const other = await temporaryDirectory();
  const taken = await runMain('--directory', other, '--port', String(running.port));
  assert.is(taken.code, 1);
  assert.match(taken.errors, 'EADDRINUSE');
  assert.is(taken.errors.trim().split('\n').length, 1);

  const refused = await refusal(() => startEventStoreProcess({ directory }));
  assert.match(String(refused.message), `in use by process ${running.pid}`);
  const usage = await runMain('--port', 'x');
  assert.match(usage.errors, 'usage:');
  await running.stop();
  await rm(other, { recursive: true });
});

test('does not outlive the parent that started it', async ({ directory }) => {
  const program = `
    const { startEventStoreProcess } = await import(${JSON.stringify(new URL('./child-process.ts', import.meta.url).href)});
    const running = await startEventStoreProcess({ directory: process.argv[1] });
    process.stdout.write(String(running.pid));
    setInterval(() => {}, 1000);
  `;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', program, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [chunk] = await once(parent.stdout, 'data');
    const locked = await refusal(() => startEventStoreProcess({ directory }));
    assert.match(String(locked.message), `in use by process ${chunk}`);
  } finally {
    parent.kill('SIGKILL');
  }
  await untilFree(directory);
});

/** Resolves when no process holds the directory any more. */
async function untilFree(directory: string): Promise<void> {
  for (;;) {
    try {
      lockDirectory(directory).release();
      return;
    } catch (error) {
      if (!(error instanceof DirectoryLockedError)) throw error;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a detached command goes on when its standard input closes', async ({ directory }) => {
  const child = spawn(process.execPath, [main, '--directory', directory, '--port', '0'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [chunk] = await once(child.stdout, 'data');
  const ready = JSON.parse(String(chunk));
  assert.is(ready.event, 'ready');
  assert.is(ready.pid, child.pid);
  child.stdin.end();
  const client = EventStoreDBClient.connectionString(ready.connection_string);
  for (let number = 0; number < 3; number += 1) await client.appendToStream('a', numbered(number));
  await client.dispose();
  child.kill('SIGINT');
  assert.equal(await once(child, 'exit'), [0, null]);
});

test.run();

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DataFolderInUseError, dataFolder } from './data-folder.ts';
import { isRunning } from './process-record.ts';
import { eventually, runElsewhere } from './test-process.ts';

const test = suite('data folder');
let folder: string;

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-data-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

const takes = (path: string) => `
  import { dataFolder } from './data-folder.ts';
  await dataFolder(${JSON.stringify(path)});
  console.log('taken');`;

test('is created, absolute, and free again when released', async () => {
  const path = join(folder, 'a', 'b');
  const first = await dataFolder(path);
  assert.is(first.path, path);
  assert.ok(existsSync(path));
  first.release();
  (await dataFolder(path)).release();
});

test('is refused while another process has it, with its pid and the way out', async () => {
  const other = await runElsewhere(takes(folder));
  assert.is(other.firstLine, 'taken');
  const failure = await dataFolder(folder).catch((error: unknown) => error);
  await other.end('SIGKILL');
  assert.instance(failure, DataFolderInUseError);
  assert.is((failure as DataFolderInUseError).pid, other.child.pid);
  assert.match(String(failure), `process ${other.child.pid}`);
  assert.match(String(failure), 'COUNTERFOIL_DATA=');
});

test('is free again when the process that had it was killed', async () => {
  const other = await runElsewhere(takes(folder));
  await other.end('SIGKILL');
  (await dataFolder(folder)).release();
});

test('is given out only after what a killed predecessor left running has ended', async () => {
  const slowToStop = 'trap "sleep 0.3; exit 0" TERM; while :; do sleep 0.02; done';
  const other = await runElsewhere(`
    import { dataFolder } from './data-folder.ts';
    import { spawnGuarded } from './guarded-process.ts';
    const folder = await dataFolder(${JSON.stringify(folder)});
    const child = spawnGuarded({
      command: '/bin/sh', args: ['-c', ${JSON.stringify(slowToStop)}], env: process.env,
      stopSignal: 'SIGTERM', stopLimitMs: 5000, output: { file: '/dev/null' },
      recordFile: folder.recordFile('slow'),
    });
    console.log(child.pid);`);
  const pid = Number(other.firstLine);
  assert.ok(isRunning(pid));
  await other.end('SIGKILL');
  const next = await dataFolder(folder);
  assert.not(isRunning(pid));
  assert.not(existsSync(next.recordFile('slow')));
  next.release();
  await eventually('the process is gone', () => !isRunning(pid));
});

test.run();

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority, release } from 'node:os';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { batchLauncher } from './batch-work.ts';
import { spawnGuarded } from './guarded-process.ts';
import { linesOf } from './lines.ts';

const test = suite('batch work');

/** Linux shows here how it sees a process: with its slice, if it was built to. */
const seen = '/proc/self/sched';
const [major = 0, minor = 0] = release().split('.').map(Number);
const letsSlicesBeChosen = major > 6 || (major === 6 && minor >= 12);
const showsSlices = existsSync(seen) && readFileSync(seen, 'utf8').includes('se.slice');
const hasPerl = spawnSync('perl', ['-v']).status === 0;
/** Those whose number of the call is known. */
const isKnownProcessor = ['x64', 'arm64'].includes(process.arch);
const canTell = letsSlicesBeChosen && showsSlices && hasPerl && isKnownProcessor;

test('starts the program with its arguments as they are', () => {
  const [shell = '', ...before] = batchLauncher;
  const { stdout } = spawnSync(shell, [...before, 'printf', '<%s>', 'a  b', '$1', "'"]);
  assert.is(String(stdout), "<a  b><$1><'>");
});

const sliceLine = `grep -w se.slice ${seen}`;

(canTell ? test : test.skip)('gives it longer turns, and leaves it as nice as it was', () => {
  const command = ['-n', '3', ...batchLauncher, '/bin/sh', '-c', `${sliceLine}; nice`];
  const { stdout } = spawnSync('nice', command, { encoding: 'utf8' });
  const words = stdout.trim().split(/\s+/);
  assert.equal(words, ['se.slice', ':', '3000000', String(Math.min(19, getPriority() + 3))]);
});

(canTell ? test : test.skip)('gives a process the turns that it is to have', async () => {
  for (const [turns, slice] of [
    [undefined, 3_000_000],
    ['short', 3_000_000],
    ['long', 12_000_000],
  ] as const) {
    const child = spawnGuarded({
      ...{ command: '/bin/sh', args: ['-c', sliceLine], env: process.env, turns },
      ...{ stopSignal: 'SIGTERM', stopLimitMs: 10_000, output: 'pipe' },
    });
    const { value } = await linesOf(child.stdout ?? process.stdin).next();
    assert.is(Number(value?.split(':')[1]), slice, turns);
    await child.exited;
  }
});

test.run();

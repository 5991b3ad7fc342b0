import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority, release } from 'node:os';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { batchLauncher } from './batch-work.ts';

const test = suite('batch work');

/** The words that a program prints which is started with the launcher and is three steps nicer than we are. */
function printed(script: string): readonly string[] {
  const command = ['-n', '3', ...batchLauncher, '/bin/sh', '-c', script];
  const { stdout } = spawnSync('nice', command, { encoding: 'utf8' });
  return stdout.trim().split(/\s+/);
}

/** Linux shows here how it sees a process: with its slice, if it was built to. */
const seen = '/proc/self/sched';
const [major = 0, minor = 0] = release().split('.').map(Number);
const letsSlicesBeChosen = major > 6 || (major === 6 && minor >= 12);
const showsSlices = existsSync(seen) && readFileSync(seen, 'utf8').includes('se.slice');
const hasPerl = spawnSync('perl', ['-v']).status === 0;
const canTell = letsSlicesBeChosen && showsSlices && hasPerl;

test('starts the program with its arguments as they are', () => {
  const [shell = '', ...before] = batchLauncher;
  const { stdout } = spawnSync(shell, [...before, 'printf', '<%s>', 'a  b', '$1', "'"]);
  assert.is(String(stdout), "<a  b><$1><'>");
});

(canTell ? test : test.skip)('gives it longer turns, and leaves it as nice as it was', () => {
  const words = printed(`grep -w se.slice ${seen}; nice`);
  assert.equal(words, ['se.slice', ':', '6000000', String(Math.min(19, getPriority() + 3))]);
});

test.run();

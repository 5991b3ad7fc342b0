import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openLogFile } from './log-file.ts';

const test = suite('log file');
let folder: string;
let path: string;

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-log-'));
  path = join(folder, 'counterfoil.log');
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

test('marks each line with its writer and continues an earlier log', () => {
  for (const line of ['first', 'second']) {
    const log = openLogFile(path);
    log.write('api', line);
    log.close();
  }
  assert.is(readFileSync(path, 'utf8'), 'api | first\napi | second\n');
});

test('sets a full log aside and keeps only one such', () => {
  const log = openLogFile(path, 10);
  for (const line of ['one of ten', 'two of ten', 'three']) log.write('a', line);
  log.close();
  assert.is(readFileSync(path, 'utf8'), 'a | three\n');
  assert.is(readFileSync(`${path}.1`, 'utf8'), 'a | two of ten\n');
  assert.is(readdirSync(folder).length, 2);
});

test('ignores what is written after it was closed', () => {
  const log = openLogFile(path);
  log.close();
  log.write('api', 'late');
  log.close();
  assert.is(readFileSync(path, 'utf8'), '');
});

test.run();

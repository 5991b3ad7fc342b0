import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { codeFingerprint } from './code-fingerprint.ts';

const test = suite('fingerprint of code');

const folders: string[] = [];
test.after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function newPackage(): string {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-code-'));
  folders.push(folder);
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src', 'fold.ts'), 'one');
  writeFileSync(join(folder, 'package.json'), '{}');
  return folder;
}

const isOther = (change: (folder: string) => void): boolean => {
  const folder = newPackage();
  const before = codeFingerprint([folder]);
  change(folder);
  return codeFingerprint([folder]) !== before;
};

test('the same code has the same fingerprint, wherever it is', () => {
  assert.is(codeFingerprint([newPackage()]), codeFingerprint([newPackage()]));
});

test('it changes with what a file says, what it is called, and which versions are used', () => {
  assert.ok(isOther((folder) => writeFileSync(join(folder, 'src', 'fold.ts'), 'two')));
  assert.ok(isOther((folder) => writeFileSync(join(folder, 'src', 'new.ts'), '')));
  assert.ok(isOther((folder) => writeFileSync(join(folder, 'package.json'), '{"a":1}')));
  assert.ok(
    isOther((folder) =>
      renameSync(join(folder, 'src', 'fold.ts'), join(folder, 'src', 'other.ts')),
    ),
  );
});

test('tests, documents and what others wrote are not part of it', () => {
  assert.not(isOther((folder) => writeFileSync(join(folder, 'src', 'fold.test.ts'), 'test')));
  assert.not(isOther((folder) => writeFileSync(join(folder, 'README.md'), 'read')));
  assert.not(
    isOther((folder) => {
      mkdirSync(join(folder, 'node_modules'));
      writeFileSync(join(folder, 'node_modules', 'other.js'), 'theirs');
    }),
  );
});

test.run();

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { affectedBy } from './affected.ts';

const test = suite('what a change affects');
let root: string;

test.before(() => {
  root = mkdtempSync(join(tmpdir(), 'counterfoil-affected-'));
  const files = {
    'packages/a/package.json':
      '{ "name": "@counterfoil/a", "exports": { "./sum": "./src/sum.ts" } }',
    'packages/a/src/sum.ts': "import { one } from './one.ts'; import './circle.ts';",
    'packages/a/src/one.ts': '',
    'packages/a/src/circle.ts': "import './sum.ts';",
    'packages/a/src/sum.test.ts': "import { sum } from './sum.ts';",
    'apps/b/src/main.ts': "export * from '@counterfoil/a/sum';",
    'apps/b/src/main.it.test.ts': "const main = new URL('./main.ts', import.meta.url);",
    'apps/b/src/other.test.ts': '',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
});
test.after(() => rmSync(root, { recursive: true, force: true }));

const affected = (path: string) => [...affectedBy(root, [path])].sort();

test('reaches through imports, names of packages and the programs that a test starts', () => {
  assert.equal(affected('packages/a/src/one.ts'), [
    'apps/b/src/main.it.test.ts',
    'apps/b/src/main.ts',
    'packages/a/src/circle.ts',
    'packages/a/src/one.ts',
    'packages/a/src/sum.test.ts',
    'packages/a/src/sum.ts',
  ]);
});

test('a test affects itself alone', () => {
  assert.equal(affected('apps/b/src/other.test.ts'), ['apps/b/src/other.test.ts']);
});

test.run();

// Checks the claims of the handwritten pages that can be looked up. Links are followed by the tidy rules.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { modules } from '@counterfoil/modules';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('pages');
const root = resolve(import.meta.dirname, '../../../..');
const skipped = new Set(['node_modules', '.git', '.counterfoil']);

/** Paths of all files below a folder that end in one of the given ways. */
function filesBelow(folder: string, ending: RegExp): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : filesBelow(path, ending);
    return ending.test(entry.name) ? [path] : [];
  });
}

test('every page of the documentation can be reached from the README', () => {
  const reached = new Set<string>();
  const visit = (page: string): void => {
    if (reached.has(page) || !existsSync(page) || statSync(page).isDirectory()) return;
    reached.add(page);
    if (!page.endsWith('.md')) return;
    for (const [, target = ''] of readFileSync(page, 'utf8').matchAll(/\]\(([^)#\s]+)/g)) {
      visit(resolve(dirname(page), target));
    }
  };
  visit(join(root, 'README.md'));
  for (const page of filesBelow(join(root, 'docs'), /(?<!\.test\.ts)$/)) {
    assert.ok(reached.has(page), relative(root, page));
  }
});

test('the table of metrics has every metric of the programs and no other', () => {
  const folders = ['engine', 'modules', 'webhooks'].map((name) => `packages/${name}/src`);
  const code = [...folders, 'apps']
    .flatMap((folder) => filesBelow(join(root, folder), /(?<!\.test)\.ts$/))
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  const registered = [...code.matchAll(/name: '(counterfoil_[a-z_]+)'/g)].map(([, name]) => name);
  const page = readFileSync(join(root, 'docs/operating/health-and-metrics.md'), 'utf8');
  const listed = [...page.matchAll(/^\| `(counterfoil_[a-z_]+)` \|/gm)].map(([, name]) => name);
  assert.equal(listed.toSorted(), [...new Set(registered)].toSorted());
});

test('the pages name every read table and every category of streams', () => {
  const slices = modules({ secrets: null });
  const rebuilding = readFileSync(join(root, 'docs/operating/verify-and-rebuild.md'), 'utf8');
  const log = readFileSync(join(root, 'docs/concepts/log.md'), 'utf8');
  for (const { name } of slices.flatMap(({ tables }) => tables)) {
    assert.ok(rebuilding.includes(`\`${name}\``), name);
  }
  for (const { name } of slices.flatMap(({ aggregates }) => aggregates)) {
    assert.ok(log.includes(`\`${name}\``), name);
  }
});

test.run();

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Checkpoint } from '@counterfoil/modules';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadCredits } from '../../../modules/src/wallets/decisions.ts';
import { creation, ledgerWorld, load, signingKey } from './ledger-world.ts';

const folderOfSource = resolve(import.meta.dirname, '../../../../apps/cli/src/verify-ledger');
const source = join(folderOfSource, 'verify-ledger.ts');
const id = 'wallet_01';

interface Folder {
  readonly path: string;
  readonly first: Checkpoint;
  readonly second: Checkpoint;
}

const test = suite<Folder>('the program of the verifier');

test.before(async (folder) => {
  const path = mkdtempSync(join(tmpdir(), 'counterfoil-verifier-'));
  const world = ledgerWorld();
  await world.run(id, creation(id));
  const first = (await world.checkpoint()) as Checkpoint;
  await world.run(id, loadCredits(id, [load('100')]));
  const second = (await world.checkpoint()) as Checkpoint;
  const lines = await world.exported(id, { withProofs: true, since: first.id });
  const write = (name: string, text: string) => writeFileSync(join(path, name), text);
  write('ledger.jsonl', `${lines.join('\n')}\n`);
  write('tampered.jsonl', `${lines.join('\n').replace('"credits":"100"', '"credits":"900"')}\n`);
  write('pub.pem', signingKey.publicKey);
  write('earlier.json', JSON.stringify(first));
  write('list.json', JSON.stringify({ items: [second, first], pagination: { total: 2 } }));
  Object.assign(folder, { path, first, second });
});

test.after(({ path }) => rmSync(path, { recursive: true, force: true }));

function run({ path }: Folder, program: string, ...args: string[]) {
  const { status, stdout } = spawnSync(process.execPath, [program, ...args], { cwd: path });
  return { status, line: stdout.toString().trimEnd() };
}

/** The files of the verifier as modules without types. */
function compile(folder: string): void {
  mkdirSync(folder);
  for (const name of readdirSync(folderOfSource)) {
    const code = stripTypeScriptTypes(readFileSync(join(folderOfSource, name), 'utf8'));
    const compiled = code.replaceAll(/(from '\.\/[^']+)\.ts'/g, "$1.mjs'");
    writeFileSync(join(folder, name.replace('.ts', '.mjs')), compiled);
  }
}

/** The verifier copied, under another name, linked, and without its types: the program, and how it is made. */
const forms: Readonly<Record<string, (folder: string) => void>> = {
  'copied/verify-ledger.ts': (folder) =>
    cpSync(folderOfSource, join(folder, 'copied'), { recursive: true }),
  'renamed/checker.ts': (folder) => {
    cpSync(folderOfSource, join(folder, 'renamed'), { recursive: true });
    renameSync(join(folder, 'renamed/verify-ledger.ts'), join(folder, 'renamed/checker.ts'));
  },
  'link.ts': (folder) => symlinkSync(source, join(folder, 'link.ts')),
  'compiled/verify-ledger.mjs': (folder) => compile(join(folder, 'compiled')),
};

for (const [name, make] of Object.entries(forms)) {
  test(`as ${name} it tells a genuine ledger from a tampered one`, (folder) => {
    make(folder.path);
    const genuine = run(folder, name, 'ledger.jsonl');
    assert.is(genuine.status, 0);
    assert.match(genuine.line, /^OK .*: 2 events, credit balance 100, unsigned$/);
    const tampered = run(folder, name, 'tampered.jsonl');
    assert.is(tampered.status, 1);
    assert.match(tampered.line, /^FAULT line 3: revision 1: its content does not match its hash/);
  });
}

test('it takes an earlier checkpoint alone or in the list that the API answers', (folder) => {
  for (const kept of ['earlier.json', 'list.json']) {
    const { status, line } = run(
      folder,
      source,
      ...['ledger.jsonl', '--key', 'pub.pem', '--checkpoint', kept],
    );
    assert.is(status, 0, line);
    assert.match(line, `, which extends ${folder.first.id}`);
  }
});

test('what cannot be checked is no fault of the ledger, and no pass either', (folder) => {
  const cases: readonly [string[], RegExp][] = [
    [[], /^ERROR usage: node verify-ledger.ts ledger.jsonl/],
    [['nothing.jsonl'], /^ERROR ENOENT.*nothing\.jsonl/],
    [['ledger.jsonl', '--kye', 'pub.pem'], /^ERROR Unknown option '--kye'/],
    [['ledger.jsonl', '--checkpoint', 'earlier.json'], /^ERROR --checkpoint needs --key$/],
    [['ledger.jsonl', '--key', 'earlier.json'], /^ERROR the key is no public key in PEM$/],
    [
      ['ledger.jsonl', '--key', 'pub.pem', '--checkpoint', 'ledger.jsonl'],
      /^ERROR the earlier checkpoint is no JSON$/,
    ],
    [
      ['ledger.jsonl', '--key', 'pub.pem', '--checkpoint', 'pub.pem'],
      /^ERROR the earlier checkpoint is no JSON$/,
    ],
  ];
  for (const [args, expected] of cases) {
    const { status, line } = run(folder, source, ...args);
    assert.is(status, 2, line);
    assert.match(line, expected);
  }
});

test.run();

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const PACKAGE = '{ "name": "checkout" }';
const LOCK = JSON.stringify({
  packages: {
    '': {},
    'node_modules/left': { version: '1.0.0', integrity: 'sha512-a' },
    'node_modules/other-platform': { version: '1.0.0', optional: true },
  },
});

interface Run {
  readonly code: number;
  /** The path of the Node to use, which is all that goes to standard output. */
  readonly node: string;
  /** The text for the user. */
  readonly output: string;
}

const test = suite('preparing a checkout');
let root: string;

test.before.each(() => {
  root = mkdtempSync(join(tmpdir(), 'counterfoil-checkout-'));
  cpSync(join(import.meta.dirname, '..', 'bootstrap.mjs'), join(root, 'infra', 'bootstrap.mjs'));
  cpSync(import.meta.dirname, join(root, 'infra', 'bootstrap'), { recursive: true });
  writeFileSync(join(root, 'package.json'), PACKAGE);
  writeFileSync(join(root, 'package-lock.json'), LOCK);
  mkdirSync(join(root, 'programs'));
  installScript('echo call >> "$ROOT/npm-calls"; /bin/mkdir -p "$ROOT/node_modules"');
});

test.after.each(() => rmSync(root, { recursive: true, force: true }));

function installScript(script: string): void {
  const text = `#!/bin/sh\nROOT="${root}"\n${script}\n`;
  writeFileSync(join(root, 'programs', 'npm'), text, { mode: 0o755 });
}

function npmCalls(): number {
  try {
    return readFileSync(join(root, 'npm-calls'), 'utf8').split('\n').length - 1;
  } catch {
    return 0;
  }
}

function start(nodeArguments: string[] = []): ChildProcess {
  const environment = { PATH: join(root, 'programs'), NATS_URL: 'nats://127.0.0.1:4222' };
  return spawn(process.execPath, [...nodeArguments, join(root, 'infra', 'bootstrap.mjs')], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function finish(child: ChildProcess): Promise<Run> {
  let [node, output] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    node += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, node: node.trimEnd(), output };
}

const silent: Run = { code: 0, node: process.execPath, output: '' };

test('installs the dependencies once and then says nothing', async () => {
  const first = await finish(start());
  assert.is(first.code, 0);
  assert.is(first.output.trim().split('\n').length, 1);
  const second = await finish(start());
  assert.equal(second, silent);
  assert.is(npmCalls(), 1);
});

test('installs again when the lock file changes', async () => {
  await finish(start());
  writeFileSync(join(root, 'package-lock.json'), LOCK.replace('1.0.0', '1.0.1'));
  await finish(start());
  assert.is(npmCalls(), 2);
});

/** Writes the record of npm that a version of the dependency is in place. */
function recordInstalled(version: string, integrity: string): void {
  mkdirSync(join(root, 'node_modules'));
  const record = { packages: { 'node_modules/left': { version, integrity } } };
  writeFileSync(join(root, 'node_modules', '.package-lock.json'), JSON.stringify(record));
}

test('accepts what was installed by hand when it is what the lock file asks for', async () => {
  recordInstalled('1.0.0', 'sha512-a');
  mkdirSync(join(root, 'node_modules', 'left'));
  assert.equal(await finish(start()), silent);
  assert.is(npmCalls(), 0);
});

test('installs when what was installed by hand is something else', async () => {
  recordInstalled('0.9.0', 'sha512-b');
  mkdirSync(join(root, 'node_modules', 'left'));
  await finish(start());
  assert.is(npmCalls(), 1);
});

test('installs what the record of npm says is there but is not', async () => {
  recordInstalled('1.0.0', 'sha512-a');
  await finish(start());
  assert.is(npmCalls(), 1);
});

test('shows what npm said when it fails, and tries again the next time', async () => {
  installScript('echo call >> "$ROOT/npm-calls"; echo "npm error: disk full" >&2; exit 1');
  const failed = await finish(start());
  assert.is(failed.code, 1);
  assert.match(failed.output, 'npm error: disk full');
  await finish(start());
  assert.is(npmCalls(), 2);
});

test('installs once when two runs start together', async () => {
  installScript(
    // The first call ends only once somebody says that the second run is waiting for it.
    'echo call >> "$ROOT/npm-calls"; while [ ! -e "$ROOT/go" ]; do /bin/sleep 0.02; done; ' +
      '/bin/mkdir -p "$ROOT/node_modules"',
  );
  const runs = [start(), start()];
  let isWaiting = false;
  for (const child of runs) {
    child.stderr?.on('data', (chunk) => {
      if (String(chunk).includes('waiting for process')) isWaiting = true;
      if (isWaiting) writeFileSync(join(root, 'go'), '');
    });
  }
  const outcomes = await Promise.all(runs.map(finish));
  assert.equal(
    outcomes.map((outcome) => outcome.code),
    [0, 0],
  );
  assert.ok(isWaiting);
  assert.is(npmCalls(), 1);
});

/** Runs the bootstrap under a Node that says that it is another one. */
function pretend(version: string, platform: NodeJS.Platform = process.platform): ChildProcess {
  const program = `Object.defineProperty(process.versions, 'node', { value: '${version}' });
    Object.defineProperty(process, 'platform', { value: '${platform}' });`;
  return start(['--import', `data:text/javascript,${encodeURIComponent(program)}`]);
}

function installNode(folder: string, version: string): string {
  const file = join(root, folder, 'node');
  mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho v${version}\n`, { mode: 0o755 });
  return file;
}

test('tells the version of Node that is needed when this one is too old', async () => {
  const outcome = await finish(pretend('18.20.0'));
  assert.is(outcome.code, 1);
  assert.match(outcome.output, /needs Node 20 or newer to start, but this is Node 18\.20\.0/);
});

test('hands over to the first Node on PATH when that one is new enough', async () => {
  const file = installNode('programs', '24.9.0');
  assert.is((await finish(pretend('20.0.0'))).node, file);
});

test('hands over to the Node that comes with the dependencies when the one on PATH is old', async () => {
  if (process.platform !== 'linux') return;
  installNode('programs', '24.2.0');
  const folder = `node_modules/node-linux-${process.arch}/bin`;
  installScript(
    `echo call >> "$ROOT/npm-calls"; /bin/mkdir -p "$ROOT/${folder}"; ` +
      `/bin/cp "$ROOT/programs/node" "$ROOT/${folder}/node"`,
  );
  assert.is((await finish(pretend('20.0.0'))).node, join(root, folder, 'node'));
  rmSync(join(root, folder, 'node'));
  assert.is((await finish(pretend('20.0.0'))).node, join(root, folder, 'node'));
  assert.is(npmCalls(), 2, 'one that is missing is installed again');
});

test('says so when npm leaves that Node out', async () => {
  if (process.platform !== 'linux') return;
  const outcome = await finish(pretend('20.0.0'));
  assert.is(outcome.code, 1);
  assert.match(outcome.output, 'npm has left out');
});

test('says in one sentence how to get a Node where none comes with the dependencies', async () => {
  const outcome = await finish(pretend('20.0.0', 'darwin'));
  assert.is(outcome.code, 1);
  assert.match(outcome.output, /needs Node 24\.3 or newer on PATH.*Homebrew/);
  assert.is(npmCalls(), 0, 'nothing is installed in vain');
});

test.run();

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const HERE = import.meta.dirname;
const test = suite('test runner');
let root: string;

test.before.each(() => {
  root = mkdtempSync(join(tmpdir(), 'counterfoil-run-'));
  symlinkSync(join(HERE, '../../../../node_modules'), join(root, 'node_modules'));
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }');
});
test.after.each(() => rmSync(root, { recursive: true, force: true }));

const HEAD = `import { suite } from 'uvu'; import * as assert from 'uvu/assert'; const test = suite('s');`;
const PASSING = `${HEAD} test('holds', () => assert.is(1, 1)); test.run();`;

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(root, 'packages', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function start(...words: string[]) {
  return spawn(
    process.execPath,
    [join(HERE, '../run.ts'), `--root=${root}`, '--limit=300', ...words],
    { cwd: join(HERE, '../..'), stdio: ['ignore', 'pipe', 'pipe'] },
  );
}

async function run(...words: string[]): Promise<{ code: number; lines: string[]; text: string }> {
  const child = start(...words);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += chunk;
    });
  }
  const [code] = await once(child, 'close');
  return { code, text, lines: text.trimEnd().split('\n') };
}

test('runs unit, property and integration tests and closes with the totals', async () => {
  write({
    'a/src/a.test.ts': PASSING,
    'a/src/a.property.test.ts': PASSING,
    'a/src/deep/a.it.test.ts': PASSING,
    'a/src/a.long.test.ts': PASSING,
    'a/node_modules/b/b.test.ts': PASSING,
    'a/src/not-a-test.ts': 'throw new Error("loaded");',
  });
  const { code, lines } = await run();
  assert.is(lines.at(-1), '3 passed, 0 failed');
  assert.is(code, 0);
});

test('runs only the files and the tests that are asked for', async () => {
  write({
    'a/src/a.test.ts': `${HEAD} test.before(() => console.log('begun'));
      test('rounds up', () => assert.is(1, 1));
      test('rounds down', () => assert.is(1, 2)); test.run();`,
    'a/src/b.test.ts': `${HEAD} test.before(() => { throw new Error('begun in vain'); });
      test('adds', () => assert.is(1, 2)); test.run();`,
    'b/src/a.test.ts': `throw new Error('loaded');`,
  });
  const { code, lines, text } = await run('a/src', 'unit', '--name=rounds up');
  assert.is(code, 0, text);
  assert.is(lines.at(-1), '1 passed, 0 failed');
  assert.not.match(text, 'b.test.ts');
});

test('watches, and runs again what a change affects', async () => {
  const imports = (name: string) => `import './${name}.ts'; ${PASSING}`;
  write({ 'a/src/one.ts': '', 'a/src/two.ts': '' });
  write({ 'a/src/one.test.ts': imports('one'), 'a/src/two.test.ts': imports('two') });
  const child = start('a/src', '--watch');
  const passed: string[] = [];
  const rounds: string[][] = [];
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith('ok')) passed.push(line.split(/ +/)[1]?.split('/').at(-1) ?? '');
    if (!line.startsWith('Waiting')) continue;
    rounds.push(passed.splice(0).sort());
    if (rounds.length === 3) break;
    write({ 'a/src/two.ts': `export const round = ${rounds.length};` });
  }
  child.kill('SIGINT');
  assert.equal(rounds, [['one.test.ts', 'two.test.ts'], ['two.test.ts'], ['two.test.ts']]);
});

test('files that share servers run in one process, and what they opened is closed after the last', async () => {
  const atEnd = join(HERE, 'at-end.ts');
  const sharing = (name: string): string => `${HEAD} import { openedTogether } from '${atEnd}';
    import { appendFileSync } from 'node:fs';
    const say = (what) => appendFileSync('said', what + ' in ' + process.pid + '\\n');
    test('a', () => { say('${name}'); openedTogether.add(null, async () => say('closed ${name}')); });
    test.run(); // as one with sharedStack() does`;
  write({ 'a/one.it.test.ts': sharing('one'), 'a/two.it.test.ts': sharing('two') });
  const { lines } = await run();
  assert.is(lines.at(-1), '2 passed, 0 failed');
  const said = readFileSync(join(root, 'said'), 'utf8').trim().split('\n');
  const process = said[0]?.split(' ').at(-1);
  const expected = ['one', 'two', 'closed two', 'closed one'];
  assert.equal(
    said,
    expected.map((what) => `${what} in ${process}`),
  );
});

test('fails when there is no test', async () => {
  const { code, lines, text } = await run('nothing-like-this');
  assert.is(code, 1);
  assert.match(text, 'No test was run.');
  assert.is(lines.at(-1), '0 passed, 0 failed');
});

test('shows a failure in full and counts it', async () => {
  write({
    'a/src/a.test.ts': `${HEAD} console.log('said before');
      test('holds', () => assert.is(1, 1));
      test('does not hold', () => assert.equal({ a: 1 }, { a: 2 })); test.run();`,
  });
  const { code, lines, text } = await run();
  assert.is(code, 1);
  assert.is(lines.at(-1), '1 passed, 1 failed');
  for (const part of ['said before', 'does not hold', 'Actual:', 'Expected:', 'a.test.ts:3:']) {
    assert.ok(text.includes(part), part);
  }
});

/** Each of these brings one failure, with the sentence that says what is wrong. */
const BROKEN: Record<string, [source: string, sentence: string]> = {
  'forgotten-run.test.ts': [`${HEAD} test('a', () => undefined);`, 'registered no test'],
  'no-tests.test.ts': [`${HEAD} test.run();`, 'registered no test'],
  'broken-import.test.ts': [`import './nowhere.ts';`, 'cannot be loaded'],
  'failing-hook.test.ts': [
    `${HEAD} test.before(() => { throw new Error('hook'); }); test('a', () => undefined); test.run();`,
    'a hook (before, after, each) threw an error',
  ],
  'leaving.test.ts': [
    `${HEAD} test('a', () => process.exit(0)); test.run();`,
    'process.exit(0) was called',
  ],
  'never-settling.test.ts': [
    `${HEAD} test('a', () => new Promise(() => undefined)); test.run();`,
    'nothing is left that could settle what a test waits for',
  ],
  'unhandled.test.ts': [
    `${HEAD} test('a', async () => { Promise.reject(new Error('lost'));
      await new Promise((resolve) => setTimeout(resolve, 50)); }); test.run();`,
    'unhandledRejection: Error: lost',
  ],
};

test('fails for every way in which a file can run no test or bring its process down', async () => {
  write(Object.fromEntries(Object.entries(BROKEN).map(([name, [text]]) => [`a/${name}`, text])));
  write({ 'a/zzz-last.test.ts': PASSING });
  const { code, lines, text } = await run();
  assert.is(code, 1);
  assert.is(lines.at(-1), `1 passed, ${Object.keys(BROKEN).length} failed`);
  for (const [name, [, sentence]] of Object.entries(BROKEN)) {
    const start = text.indexOf(`FAIL  packages/a/${name}`);
    assert.ok(start >= 0, `${name} failed`);
    const section = text.slice(start).split(/\n(?:ok|FAIL) {2,4}packages/)[0] ?? '';
    assert.ok(section.includes(sentence), `${name}: ${sentence}, not: ${section}`);
  }
});

test('kills what takes too long, goes on with the next file, and fails for what keeps a process alive', async () => {
  // The one lane begins with the first, the other with the last, so that both wait at the same time.
  write({
    'a/hanging.test.ts': `${HEAD} setInterval(() => undefined, 1000);
      test('a', () => new Promise(() => undefined)); test.run();`,
    'a/zzz-last.test.ts': PASSING,
    'a/leaking.it.test.ts': `${PASSING} setInterval(() => undefined, 1000);`,
  });
  const { code, lines, text } = await run('--limit=10');
  assert.is(code, 1);
  assert.match(text, 'not done within 10 s');
  assert.match(text, 'something (a server, a timer, a pool) is still open');
  assert.is(lines.at(-1), '2 passed, 2 failed');
});

test('a process that says more than the runner takes at once does not end for it, and says it whole', async () => {
  // A pipe takes 64 KiB, and does not block once standard output was used.
  write({
    'a/much.test.ts': `${HEAD} process.stdout.write('begun.');
      test('a', () => { assert.unreachable('x'.repeat(300_000) + 'the last word'); }); test.run();`,
    'a/zzz-last.test.ts': PASSING,
  });
  const { lines, text } = await run();
  assert.match(text, 'the last word');
  assert.not.match(text, 'the process ended');
  assert.is(lines.at(-1), '1 passed, 1 failed');
});

test('does not wait for a process that a test has left behind', async () => {
  write({
    'a/orphan.test.ts': `import { spawn } from 'node:child_process'; ${PASSING}
      const child = spawn('sleep', ['600'], { detached: true, stdio: 'inherit' });
      console.log('pid', child.pid, '.'); child.unref(); throw new Error('later');`,
  });
  const { lines, text } = await run();
  const pid = Number(/pid (\d+) /.exec(text)?.[1]);
  // It is still there to be ended: the runner has not waited for it.
  process.kill(pid, 'SIGKILL');
  assert.is(lines.at(-1), '0 passed, 1 failed');
});

test.run();

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('output of a log');

const program = fileURLToPath(new URL('./test-log-process.ts', import.meta.url));

interface Line {
  readonly msg: string;
  readonly number?: number;
}

const start = (...given: string[]) =>
  spawn(process.execPath, [program, ...given], { stdio: ['pipe', 'pipe', 'pipe'] });

/** The lines of a process up to its end, or until one of them is wanted. */
async function linesOf(child: ReturnType<typeof start>, until?: string): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as Line;
    lines.push(line);
    if (line.msg === until) break;
  }
  return lines;
}

const numbersIn = (lines: readonly Line[]): number[] => lines.flatMap(({ number }) => number ?? []);

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

for (const [ending, code] of [
  ['end', 0],
  ['stop', 0],
  ['throw', 1],
] as const) {
  test(`no line is missing when the process ends: ${ending}`, async () => {
    const child = start(ending, '500');
    const [lines, [exitCode]] = await Promise.all([linesOf(child), once(child, 'exit')]);
    assert.is(exitCode, code);
    assert.equal(numbersIn(lines), upTo(500));
    if (ending === 'throw') assert.is(lines.at(-1)?.msg, 'unhandled error, exiting');
  });
}

test('a warning takes the lines before it along', async () => {
  const child = start('warn', '3');
  const lines = await linesOf(child, 'look');
  assert.equal(numbersIn(lines), upTo(3));
  child.kill('SIGKILL');
});

test('lines that nobody takes are bounded and counted, and the process goes on', async () => {
  const count = 60_000;
  const child = start('unheard', String(count));
  const [text] = (await once(child.stderr, 'data')) as [Buffer];
  const lost = Number(text);
  assert.ok(lost > 0 && lost < count, String(lost));
  // All that waits is taken before the process ends: a write that is under way at the end may be cut.
  const numbers: number[] = [];
  for await (const text of createInterface({ input: child.stdout })) {
    numbers.push(...numbersIn([JSON.parse(text) as Line]));
    if (numbers.length === count - lost) child.stdin.end();
  }
  assert.equal(numbers, upTo(count - lost));
});

test.run();

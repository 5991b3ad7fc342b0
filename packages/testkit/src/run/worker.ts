// Runs test files one after the other in this process and tells the runner the result of each.
// Arguments: the paths of the files, `--name=…` for only those tests whose name contains that, and
// `--ends-at-failure` when nothing is asked but whether there is one.
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { openedTogether } from './at-end.ts';
import { sayWhyItEnds } from './last-words.ts';
import { encodeEvent, type WorkerEvent } from './protocol.ts';
import { writeWhole } from './write-whole.ts';

/**
 * The result of uvu's runner of one suite: the failures, and how many tests passed, were skipped,
 * and exist.
 */
type SuiteResult = [errors: string | true, passed: number, skipped: number, total: number];
type SuiteRun = () => Promise<SuiteResult>;

/** The globals through which uvu's suites hand themselves over instead of starting by themselves. */
interface UvuGlobals {
  UVU_DEFER: number;
  UVU_INDEX: number;
  UVU_QUEUE: [name: string | null, ...runs: SuiteRun[]][];
}

const uvu = globalThis as unknown as UvuGlobals;
uvu.UVU_DEFER = 1;
uvu.UVU_QUEUE = [];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { name: { type: 'string' }, 'ends-at-failure': { type: 'boolean', default: false } },
});
if (values.name !== undefined || values['ends-at-failure']) offerChosen();

let isDone = false;
sayWhyItEnds(process, () => isDone, print);
for (const file of positionals) {
  tell({ event: 'begin', file });
  const result = await runFile(file);
  tell({ event: 'end', file, ...result });
}
await openedTogether.closeAll();
isDone = true;
tell({ event: 'finished' });

/** Lets tests import a uvu that takes in only the tests that are asked for. */
function offerChosen(): void {
  const filtered = new URL('./chosen-tests.ts', import.meta.url);
  if (values.name !== undefined) filtered.searchParams.set('name', values.name);
  if (values['ends-at-failure']) filtered.searchParams.set('endsAtFailure', '');
  registerHooks({
    resolve: (specifier, context, nextResolve) =>
      specifier === 'uvu' && context.parentURL !== filtered.href
        ? nextResolve(filtered.href, context)
        : nextResolve(specifier, context),
  });
}

async function runFile(file: string) {
  const result = { passed: 0, failed: 0, skipped: 0 };
  uvu.UVU_INDEX = 0;
  uvu.UVU_QUEUE.length = 0;
  uvu.UVU_QUEUE.push([null]);
  try {
    await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    print(`  FAIL  cannot be loaded\n${error instanceof Error ? error.stack : error}\n`);
    return { ...result, failed: 1 };
  }
  const [, ...runs] = uvu.UVU_QUEUE[0] ?? [null];
  for (const run of runs) {
    const [errors, passed, skipped, total] = await run();
    result.passed += passed;
    result.failed += total - passed;
    result.skipped += skipped;
    if (typeof errors === 'string') print(`\n${errors}\n`);
    // uvu drops errors of a hook; the tests that did not run for it are all that shows.
    else if (passed < total) print('  FAIL  a hook (before, after, each) threw an error\n');
  }
  if (result.passed + result.failed + result.skipped > 0) return result;
  if (values.name !== undefined) return result;
  print('  FAIL  the file registered no test: is a call of test.run() missing?\n');
  return { ...result, failed: 1 };
}

function tell(event: WorkerEvent): void {
  print(encodeEvent(event));
}

/** Written at once, so that it keeps its place among what tests print. */
function print(text: string): void {
  writeWhole(1, text);
}

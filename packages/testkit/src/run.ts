/**
 * The test runner: `run.ts [word]… [--name=…] [--watch] [--limit=SECONDS] [--root=…]`. The words choose
 * the files: `unit`, `it`, `long` and `tidy` by kind, every other one by a part of the path; see
 * `selectFiles`. Without a word it runs everything but the long tests. `--name` chooses tests by a part of
 * their name. Closes with the line `N passed, N failed`, and exits with 1 when a test failed or when there
 * was none. With `--watch` it goes on, and runs again what a change affects.
 *
 * uvu alone would exit with 0 when no test ran and wait for ever for a test that hangs.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findTestFiles, type Level, selectFiles, type TestFile } from './run/discover.ts';
import { type FileResult, runWorker, type WorkerJob, type WorkerLimits } from './run/run-worker.ts';
import { runOnChanges } from './run/watch.ts';

/** Many times what a file takes: a machine that is busy with other things must not make a test fail. */
const FILE_LIMIT_SECONDS: Readonly<Record<Level, number>> = { unit: 600, it: 900, long: 3_600 };
const EXIT_LIMIT_MS = 60_000;

/** Starting a process costs time, so files that need nothing share one. */
const BATCH_FILES_MAX = 100;

/** Files with servers of their own share a process too; few, because what one of them breaks may harm those after it. */
const SERVER_FILES_MAX = 6;

/** Starting the servers costs more, so files that share them share a process too; few, so that a lane ends soon. */
const SHARING_FILES_MAX = 8;
const SHARING = 'sharedStack()';

/**
 * Processes that run tests at once. Each of them may start servers, which want processors too; but tests wait as well, for a
 * killed process to be there again or a server to answer, and one lane more than two processors leaves neither of them idle.
 */
const LANES = 3;

/**
 * Parts of the paths of the files that take longest. Each has a process of its own, and they are begun early, so that no lane
 * is left alone with one of them at the end.
 */
const DEAREST = [
  ...['canaries', 'contract', 'crash', 'gateway', 'hard-limits', 'kills', 'operator', 'outages'],
  ...['owners', 'two-projectors', 'verification', 'verify'],
];

interface Tally {
  files: number;
  passed: number;
  failed: number;
  skipped: number;
  readonly failedFiles: Set<string>;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    root: { type: 'string' },
    limit: { type: 'string' },
    name: { type: 'string' },
    watch: { type: 'boolean', default: false },
  },
});
const root = resolve(values.root ?? resolve(import.meta.dirname, '../../..'));

async function main(): Promise<void> {
  const chosen = (): TestFile[] => selectFiles(findTestFiles(root), positionals);
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stopping.abort());
  }
  if (values.watch) await runOnChanges(root, chosen, run, stopping.signal);
  else await run(chosen(), stopping.signal);
}

/** Runs test files and says how they went. Returns whether it came to its end before the signal. */
async function run(files: readonly TestFile[], signal: AbortSignal): Promise<boolean> {
  const startedAt = Date.now();
  const tally: Tally = { files: 0, passed: 0, failed: 0, skipped: 0, failedFiles: new Set() };
  const waiting = queuesOf(files);
  // One lane begins with the files that need nothing, the others with those that start servers; who
  // is done first takes over of the rest.
  await Promise.all([
    runLane(() => nextJob(waiting), tally, signal),
    ...Array.from({ length: LANES - 1 }, () =>
      runLane(() => nextJob(waiting.toReversed()), tally, signal),
    ),
  ]);
  // Long tests load the machine by themselves.
  const long = inBatches(pathsOf(files, 'long'), 1).map((paths) => jobOf(paths, 'long'));
  await runLane(() => long.shift(), tally, signal);
  summarise(tally, Date.now() - startedAt, signal.aborted);
  return !signal.aborted;
}

async function runLane(
  next: () => WorkerJob | undefined,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  for (let job = next(); job !== undefined; job = next()) {
    let { paths } = job;
    // A file that brings its process down does not keep the others from being run.
    while (paths.length > 0 && !signal.aborted) {
      paths = await runWorker({ ...job, paths }, (result) => add(tally, result), signal);
    }
  }
}

function add(tally: Tally, result: FileResult): void {
  // A file without a test of the name that was asked for.
  if (result.passed + result.failed + result.skipped === 0) return;
  tally.files += 1;
  tally.passed += result.passed;
  tally.failed += result.failed;
  tally.skipped += result.skipped;
  const seconds = (result.durationMs / 1000).toFixed(1);
  if (result.failed === 0) {
    console.log(`ok    ${result.path} (${result.passed} in ${seconds} s)`);
    return;
  }
  tally.failedFiles.add(result.path);
  console.log(`FAIL  ${result.path} (${result.failed} failed in ${seconds} s)`);
  console.log(result.output.trimEnd());
}

function summarise(tally: Tally, durationMs: number, wasStopped: boolean): void {
  console.log('');
  if (tally.passed + tally.failed === 0) console.log(`No test was run.${adviceFor(positionals)}`);
  if (wasStopped) console.log('Stopped before the end.');
  for (const path of tally.failedFiles) console.log(`failed: ${path}`);
  const skipped = tally.skipped === 0 ? '' : `, ${tally.skipped} tests skipped`;
  console.log(`${tally.files} files in ${(durationMs / 1000).toFixed(1)} s${skipped}`);
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  process.exitCode = tally.failed > 0 || tally.passed === 0 || wasStopped ? 1 : 0;
}

const adviceFor = (words: readonly string[]): string =>
  words.length > 1
    ? ' A path has to contain all of the words; for any of them put commas between.'
    : '';

const pathsOf = (files: readonly TestFile[], level: Level): string[] =>
  files.filter((file) => file.level === level).map((file) => file.path);

const sharesServers = (path: string): boolean =>
  readFileSync(join(root, path), 'utf8').includes(SHARING);

/** Files of one kind that wait for a process. */
interface Queue {
  readonly level: Level;
  readonly paths: string[];
  /** Says how many of those that are left the next process gets. */
  readonly batch: (left: number) => number;
}

/** The files by the way in which they share processes, in the order of the lane that begins with the first. */
function queuesOf(files: readonly TestFile[]): readonly Queue[] {
  const isDear = (path: string): boolean => DEAREST.some((part) => path.includes(part));
  const withServers = pathsOf(files, 'it');
  const sharing = withServers.filter(sharesServers);
  const alone = withServers.filter((path) => !sharing.includes(path));
  return [
    { level: 'unit', paths: pathsOf(files, 'unit'), batch: () => BATCH_FILES_MAX },
    { level: 'it', paths: alone.filter((path) => !isDear(path)), batch: fewerTowardsTheEnd },
    { level: 'it', paths: alone.filter(isDear), batch: () => 1 },
    { level: 'it', paths: sharing, batch: () => SHARING_FILES_MAX },
  ];
}

/** The lanes meet here: with small batches in the end they are done at about the same time. */
const fewerTowardsTheEnd = (left: number): number =>
  Math.min(SERVER_FILES_MAX, Math.ceil(left / (2 * LANES)));

/** Takes the files of the next process out of the first queue that has some. */
function nextJob(queues: readonly Queue[]): WorkerJob | undefined {
  const queue = queues.find(({ paths }) => paths.length > 0);
  return queue && jobOf(queue.paths.splice(0, queue.batch(queue.paths.length)), queue.level);
}

const jobOf = (paths: readonly string[], level: Level): WorkerJob => ({
  root,
  paths,
  name: values.name,
  limits: limitsOf(values.limit, FILE_LIMIT_SECONDS[level]),
});

function inBatches(paths: readonly string[], size: number): string[][] {
  const batches: string[][] = [];
  for (let start = 0; start < paths.length; start += size) {
    batches.push(paths.slice(start, start + size));
  }
  return batches;
}

function limitsOf(asked: string | undefined, defaultSeconds: number): WorkerLimits {
  const seconds = asked === undefined ? defaultSeconds : Number(asked);
  if (!Number.isFinite(seconds) || seconds <= 0) {
    throw new Error('--limit takes a number of seconds');
  }
  return { fileLimitMs: seconds * 1000, exitLimitMs: Math.min(EXIT_LIMIT_MS, seconds * 1000) };
}

/**
 * Every process of a run loads much the same code: what one of them has compiled serves the others, which halves the
 * processor time of a start. Their throw-away databases begin as copies of one. The folder of both is this run's own:
 * what lies in it is taken without looking twice.
 */
function shareWork(): void {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-shared-'));
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled');
  process.env.COUNTERFOIL_TEST_CLUSTER ??= join(folder, 'cluster');
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

shareWork();
await main();

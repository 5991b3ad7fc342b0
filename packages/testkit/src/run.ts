/**
 * The test runner: `run.ts [unit | it | long | tidy | part of a path]… [--limit=SECONDS] [--root=…]`.
 * Without a word it runs everything but the long tests. Closes with the line `N passed, N failed`, and
 * exits with 1 when a test failed or when there was none.
 *
 * uvu alone would exit with 0 when no test ran and wait for ever for a test that hangs.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findTestFiles, selectFiles, type TestFile } from './run/discover.ts';
import { type FileResult, runWorker, type WorkerLimits } from './run/run-worker.ts';

const FILE_LIMIT_SECONDS = 180;
const LONG_FILE_LIMIT_SECONDS = 1_200;
const EXIT_LIMIT_MS = 15_000;

/** Starting a process costs half a second, so files that need nothing share one. */
const BATCH_FILES_MAX = 50;

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
  readonly failedFiles: Set<string>;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { root: { type: 'string' }, limit: { type: 'string' } },
  });
  const root = resolve(values.root ?? resolve(import.meta.dirname, '../../..'));
  const files = selectFiles(findTestFiles(root), positionals);
  const tally: Tally = { passed: 0, failed: 0, skipped: 0, failedFiles: new Set() };
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stopping.abort());
  }

  const startedAt = Date.now();
  const runLane = (lane: readonly string[][], limitSeconds: number): Promise<void> =>
    runBatches(root, lane, limitsOf(values.limit, limitSeconds), tally, stopping.signal);
  // Two processes at most: one for files that need nothing, one for those that start servers.
  await Promise.all([
    runLane(inBatches(pathsOf(files, 'unit')), FILE_LIMIT_SECONDS),
    runLane(oneByOne(pathsOf(files, 'it')), FILE_LIMIT_SECONDS),
  ]);
  await runLane(oneByOne(pathsOf(files, 'long')), LONG_FILE_LIMIT_SECONDS);

  summarise(files.length, tally, Date.now() - startedAt, stopping.signal.aborted);
}

async function runBatches(
  root: string,
  batches: readonly string[][],
  limits: WorkerLimits,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  for (const batch of batches) {
    let waiting = batch;
    // A file that brings its process down does not keep the others from being run.
    while (waiting.length > 0 && !signal.aborted) {
      waiting = await runWorker(root, waiting, limits, (result) => add(tally, result), signal);
    }
  }
}

function add(tally: Tally, result: FileResult): void {
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

function summarise(fileCount: number, tally: Tally, durationMs: number, wasStopped: boolean): void {
  console.log('');
  if (tally.passed + tally.failed === 0) console.log('No test was run.');
  if (wasStopped) console.log('Stopped before the end.');
  for (const path of tally.failedFiles) console.log(`failed: ${path}`);
  const skipped = tally.skipped === 0 ? '' : `, ${tally.skipped} tests skipped`;
  console.log(`${fileCount} files in ${(durationMs / 1000).toFixed(1)} s${skipped}`);
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  if (tally.failed > 0 || tally.passed === 0 || wasStopped) process.exitCode = 1;
}

function pathsOf(files: readonly TestFile[], level: TestFile['level']): string[] {
  return files.filter((file) => file.level === level).map((file) => file.path);
}

function inBatches(paths: readonly string[]): string[][] {
  const batches: string[][] = [];
  for (let start = 0; start < paths.length; start += BATCH_FILES_MAX) {
    batches.push(paths.slice(start, start + BATCH_FILES_MAX));
  }
  return batches;
}

function oneByOne(paths: readonly string[]): string[][] {
  return paths.map((path) => [path]);
}

function limitsOf(asked: string | undefined, defaultSeconds: number): WorkerLimits {
  const seconds = asked === undefined ? defaultSeconds : Number(asked);
  if (!Number.isFinite(seconds) || seconds <= 0) {
    throw new Error('--limit takes a number of seconds');
  }
  return { fileLimitMs: seconds * 1000, exitLimitMs: Math.min(EXIT_LIMIT_MS, seconds * 1000) };
}

await main();

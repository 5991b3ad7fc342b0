import type { Readable } from 'node:stream';
import type { Turns } from './batch-work.ts';
import { type GuardedProcess, type ProcessExit, spawnGuarded } from './guarded-process.ts';
import { type Kept, keepRunning, type RestartPolicy, type Running } from './keep-running.ts';
import { linesOf } from './lines.ts';
import { describeExit, type LocalServer } from './local-server.ts';
import type { LogFile } from './log-file.ts';

/**
 * The sign by which a process counts as ready. 'json-line': when it prints a line to standard
 * output that is a JSON object with `"event": "ready"`. 'spawned': at once.
 */
export type Readiness = 'json-line' | 'spawned';

export interface SupervisedProcessOptions {
  /** Marks its lines in the log. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the process. */
  readonly env: NodeJS.ProcessEnv;
  /** The time for which it works before another one that waits has its turn. Default: short. */
  readonly turns?: Turns;
  readonly ready: Readiness;
  /** The time until it must be ready, else it is killed and started again. Default 60 s. */
  readonly readyLimitMs?: number;
  /** The time in which it must stop, else it is killed. Default 20 s. */
  readonly stopLimitMs?: number;
  readonly restart: RestartPolicy;
  readonly log: LogFile;
  /** Takes what the operator should see: its standard error and reports. Default: our stderr. */
  readonly errors?: (line: string) => void;
  /** See `DataFolder.recordFile`. */
  readonly recordFile?: string;
}

export interface ReadyProcess extends Running {
  /** The ready line, parsed; empty for 'spawned'. */
  readonly readyLine: Readonly<Record<string, unknown>>;
}

const READY_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 20_000;
const LAST_WORDS_MAX = 20;

/**
 * Runs a command and keeps it running. Everything it prints goes to the log, line by line; what it
 * prints to standard error is shown as well. It ends when the calling process ends, and it does not
 * receive the terminal's Ctrl-C: `stop` sends SIGTERM, and SIGKILL after the limit.
 */
export function superviseProcess(options: SupervisedProcessOptions): Kept<ReadyProcess> {
  const show = options.errors ?? writeToStderr;
  return keepRunning({
    name: options.name,
    restart: options.restart,
    start: (signal) => startOnce(options, signal, show),
    report: (sentence) => reportTo(options.log, show, options.name, sentence),
  });
}

/**
 * Keeps a server of the local stack running. `start` must give the same port each time, because
 * clients keep the connection string of the first start.
 */
export function superviseServer(options: {
  readonly name: string;
  readonly start: () => Promise<LocalServer>;
  readonly restart: RestartPolicy;
  readonly log: LogFile;
  readonly errors?: (line: string) => void;
}): Kept<LocalServer> {
  const show = options.errors ?? writeToStderr;
  return keepRunning({
    name: options.name,
    restart: options.restart,
    start: options.start,
    report: (sentence) => reportTo(options.log, show, options.name, sentence),
  });
}

async function startOnce(
  options: SupervisedProcessOptions,
  signal: AbortSignal,
  show: (line: string) => void,
): Promise<ReadyProcess> {
  const child = spawnGuarded({
    command: options.command,
    args: options.args,
    env: options.env,
    turns: options.turns,
    stopSignal: 'SIGTERM',
    stopLimitMs: options.stopLimitMs ?? STOP_LIMIT_MS,
    output: 'pipe',
    recordFile: options.recordFile,
  });
  const abandon = (): void => void child.stop();
  signal.addEventListener('abort', abandon, { once: true });
  try {
    const { readyLine, drained } = await untilReady(child, options, show);
    // The last lines are still in the pipes when a process ends; they belong to its life.
    const exited = drained.then(() => child.exited);
    return { pid: child.pid, readyLine, exited, stop: () => child.stop().then(() => exited) };
  } finally {
    signal.removeEventListener('abort', abandon);
  }
}

interface ReadyOutput {
  readonly readyLine: Readonly<Record<string, unknown>>;
  /** Resolves when everything that the process printed has been handled. */
  readonly drained: Promise<unknown>;
}

/** Handles the output from now on; rejects, with the last words, when readiness never comes. */
async function untilReady(
  child: GuardedProcess,
  options: SupervisedProcessOptions,
  show: (line: string) => void,
): Promise<ReadyOutput> {
  const { name, log } = options;
  const lastWords: string[] = [];
  let tellReady: (line: Readonly<Record<string, unknown>>) => void = () => undefined;
  const readyLine = new Promise<Readonly<Record<string, unknown>>>((settle) => {
    tellReady = settle;
  });
  if (options.ready === 'spawned') tellReady({});

  const remember = (line: string): void => {
    lastWords.push(line);
    if (lastWords.length > LAST_WORDS_MAX) lastWords.shift();
    log.write(name, line);
  };
  const drained = Promise.all([
    forEachLine(child.stdout, (line) => {
      remember(line);
      const parsed = asReadyLine(line);
      if (parsed !== undefined) tellReady(parsed);
    }),
    forEachLine(child.stderr, (line) => {
      remember(line);
      show(`${name} | ${line}`);
    }),
  ]);

  const limitMs = options.readyLimitMs ?? READY_LIMIT_MS;
  const timer = setTimeout(() => void child.kill(), limitMs);
  const ended = drained.then(() => child.exited);
  const first = await Promise.race([readyLine, ended.then((exit) => ({ exit }))]);
  clearTimeout(timer);
  if (isExit(first)) {
    const words = lastWords.join('\n');
    throw new Error(`${describeExit(first.exit)} before it was ready\n${words}`.trim());
  }
  return { readyLine: first, drained };
}

function isExit(
  value: Readonly<Record<string, unknown>> | { exit: ProcessExit },
): value is { exit: ProcessExit } {
  return 'exit' in value && !('event' in value);
}

async function forEachLine(stream: Readable | null, handle: (line: string) => void): Promise<void> {
  if (stream === null) return;
  for await (const line of linesOf(stream)) handle(line);
}

function asReadyLine(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const parsed: unknown = JSON.parse(line);
    const isReady = typeof parsed === 'object' && parsed !== null && 'event' in parsed;
    return isReady && parsed.event === 'ready' ? { ...parsed } : undefined;
  } catch {
    // A line of a log that only looks like JSON.
    return undefined;
  }
}

function reportTo(
  log: LogFile,
  show: (line: string) => void,
  name: string,
  sentence: string,
): void {
  for (const line of sentence.split('\n')) log.write(name, line);
  show(sentence);
}

function writeToStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Runs the event store in a process of its own, so that neither event loop stalls the other. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { limits } from './limits.ts';

/** The options of a store in a process of its own. */
export interface ProcessOptions {
  readonly directory: string;
  /** Port to listen on; 0, the default, takes a free one. */
  readonly port?: number;
  /** A command that starts the one behind it in its own place; none unless given. */
  readonly launcher?: readonly string[];
  /** Receives what the process writes to standard error once it runs; ours unless given. */
  readonly onErrorOutput?: (text: string) => void;
  /** Called once when the process has ended, asked for or not. */
  readonly onExit?: (exit: { code: number | null; signal: NodeJS.Signals | null }) => void;
}

/** A store that runs in a process of its own. */
export interface EventStoreProcess {
  readonly pid: number;
  readonly port: number;
  readonly connectionString: string;
  readonly generation: string;
  /** Ends it in order: accepted appends are finished first. */
  stop(): Promise<void>;
  /** Ends it at once with SIGKILL. */
  kill(): void;
}

interface ReadyLine {
  readonly event: 'ready';
  readonly port: number;
  readonly connection_string: string;
  readonly generation: string;
}

/** Starts the command `main.ts`; rejects with its last words when it does not become ready. */
export async function startEventStoreProcess(options: ProcessOptions): Promise<EventStoreProcess> {
  const [command = process.execPath, ...args] = [
    ...(options.launcher ?? []),
    process.execPath,
    `--max-semi-space-size=${limits.youngGenerationMegabytes}`,
    fileURLToPath(new URL('./main.ts', import.meta.url)),
    '--directory',
    options.directory,
    '--port',
    String(options.port ?? 0),
    '--exit-with-parent',
  ];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      options.onExit?.({ code, signal });
      resolve();
    });
    child.once('error', () => resolve());
  });
  const report = options.onErrorOutput ?? ((text) => process.stderr.write(text));
  const ready = await waitUntilReady(child, report);
  return {
    pid: child.pid ?? 0,
    port: ready.port,
    connectionString: ready.connection_string,
    generation: ready.generation,
    stop: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), limits.processStopMilliseconds);
      await exited;
      clearTimeout(timer);
    },
    kill: () => {
      child.kill('SIGKILL');
    },
  };
}

function waitUntilReady(child: ChildProcess, report: (text: string) => void): Promise<ReadyLine> {
  return new Promise((resolve, reject) => {
    let output = '';
    let errors = '';
    let isReady = false;
    const fail = (reason: string): void => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`the event store did not start: ${errors.trim() || reason}`));
    };
    const timer = setTimeout(() => fail('no ready line'), limits.processReadyMilliseconds);
    // Rejecting once the promise is resolved does nothing, so these need no removal.
    child.once('error', (error) => fail(error.message));
    child.once('close', (code, signal) => fail(`exit ${code ?? signal}`));
    child.stderr?.on('data', (chunk: Buffer) => {
      if (isReady) report(chunk.toString());
      else errors = (errors + chunk.toString()).slice(-4_096);
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const end = output.indexOf('\n');
      if (end < 0 || isReady) return;
      isReady = true;
      clearTimeout(timer);
      const ready: ReadyLine = JSON.parse(output.slice(0, end));
      resolve(ready);
    });
  });
}

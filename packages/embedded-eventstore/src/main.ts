/** The event store as a command of its own; prints one JSON line when it is ready. */
import { parseArgs } from 'node:util';
import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js';
import { type RunningServer, startEventStoreServer } from './server.ts';

const USAGE =
  'usage: main.ts --directory DIRECTORY [--port PORT] [--host HOST] [--exit-with-parent]';

/** The time that a failed store has to tell its clients before the process ends. */
const EXIT_MILLISECONDS = 5_000;

function readOptions() {
  const { values } = parseArgs({
    options: {
      directory: { type: 'string' },
      port: { type: 'string', default: '2113' },
      host: { type: 'string', default: '127.0.0.1' },
      'exit-with-parent': { type: 'boolean', default: false },
    },
  });
  const port = Number(values.port);
  if (values.directory === undefined) throw new Error(USAGE);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(USAGE);
  return {
    directory: values.directory,
    port,
    host: values.host,
    exitWithParent: values['exit-with-parent'],
  };
}

function exitWithLine(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`event store: ${message.replaceAll('\n', ' ')}\n`);
  process.exit(1);
}

function stopOnSignals(server: RunningServer, exitWithParent: boolean): void {
  const stop = (): void => {
    server.close().then(() => process.exit(0), exitWithLine);
  };
  process.once('SIGTERM', stop);
  if (!exitWithParent) {
    process.once('SIGINT', stop);
    return;
  }
  // Ctrl-C reaches parent and child at once; the parent still needs the store to finish its work.
  process.on('SIGINT', () => {});
  // The parent holds the other end of standard input; it closes however the parent ends.
  process.stdin.once('end', stop).once('error', stop).resume();
}

async function main(): Promise<void> {
  // Errors are reported here, once; grpc-js would print them a second time.
  setLogVerbosity(logVerbosity.NONE);
  const { directory, port, host, exitWithParent } = readOptions();
  const server = await startEventStoreServer({
    directory,
    port,
    host,
    // A store that cannot write is of no use; its parent decides whether to start it again.
    onFailure: (error) => {
      const exit = (): never => exitWithLine(`stopped because a commit failed: ${error.message}`);
      setTimeout(exit, EXIT_MILLISECONDS).unref();
      setImmediate(() => server.close().then(exit, exit));
    },
  });
  stopOnSignals(server, exitWithParent);
  const ready = {
    event: 'ready',
    host: server.host,
    port: server.port,
    connection_string: server.connectionString,
    generation: server.generation,
    pid: process.pid,
  };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}

main().catch(exitWithLine);

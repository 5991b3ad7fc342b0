import { connect } from '../database/database.ts';
import type { EventStore } from '../log/types.ts';
import { type HealthCheck, within } from '../operations/health.ts';
import type { Log } from '../operations/log.ts';
import { installShutdown } from '../operations/shutdown.ts';
import { explain, isRefusal } from './explain.ts';

/** The exit code for a fault that the operator has to put right. */
const operatorFault = 2;

/** A program that serves until it is told to end. */
export interface ServiceOptions<Service> {
  readonly name: string;
  readonly log: Log;
  /** Milliseconds that its end may take. Default: 15 seconds. */
  readonly endMs?: number;
  /** Starts it. `readiness` fails from the moment the process is asked to end. */
  readonly start: (readiness: HealthCheck) => Promise<Service>;
  /** The addresses at which it serves, for its line on the standard output. */
  readonly ready: (service: Service) => Readonly<Record<string, unknown>>;
}

/**
 * Runs a service from its start to the end of the process, and says in one line of JSON when it is ready. A fault
 * that the operator has to put right, then or later, is one sentence on the standard error and exit code 2.
 */
export async function runService<Service extends { stop(): Promise<void> }>(
  options: ServiceOptions<Service>,
): Promise<void> {
  const { name, log, endMs, start, ready } = options;
  const shutdown = installShutdown({ log, tell, ...(endMs && { hookTimeoutMs: endMs }) });
  try {
    const service = await start(shutdown.readiness);
    shutdown.onShutdown(name, () => service.stop());
    const line = { event: 'ready', ...ready(service), pid: process.pid };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  } catch (error) {
    if (!tell(error)) throw error;
    process.exit(operatorFault);
  }
}

/** Tells the operator what to put right; false for an error that is a defect of the program. */
function tell(error: unknown): boolean {
  const message = explain(error);
  if (message !== null) process.stderr.write(`${message}\n`);
  return message !== null;
}

const admissionMs = 5_000;

/**
 * Asks the servers whether they let the program in. Throws what a server says that refuses it; one that does not
 * answer may come later, and is no reason not to start.
 */
export async function assertAdmitted({
  store,
  database,
}: {
  readonly store: Pick<EventStore, 'head'>;
  readonly database: string;
}): Promise<void> {
  const knock = async (): Promise<void> => {
    const connection = await connect(database, { application: 'counterfoil start' });
    await connection.close();
  };
  const answers = await Promise.allSettled(
    [store.head(), knock()].map((answer) => within<unknown>(admissionMs, answer)),
  );
  const refusal = answers.find(
    (answer) => answer.status === 'rejected' && isRefusal(answer.reason),
  );
  if (refusal?.status === 'rejected') throw refusal.reason;
}

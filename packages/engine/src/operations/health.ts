import { messageOf } from '../consume/run-forever.ts';
import { startDeadline } from '../log/deadline.ts';

/** One thing that a process needs. `check` throws, with a message for operators, when it fails. */
export interface HealthCheck {
  readonly name: string;
  /** True when the process is not ready while this fails. */
  readonly required: boolean;
  check(): Promise<void>;
  /** Further facts for the report. */
  details?(): Readonly<Record<string, unknown>>;
}

/** The result of one check. */
export interface CheckResult {
  readonly name: string;
  readonly required: boolean;
  readonly status: 'ok' | 'failing';
  /** The reason for a failure. */
  readonly message?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The results of all checks. */
export interface HealthReport {
  /** True when every required check passes. */
  readonly ready: boolean;
  readonly checks: readonly CheckResult[];
}

const defaultTimeoutMs = 2_000;

/**
 * Makes a function that runs the checks at the same time and reports on each. A check that does
 * not answer within `timeoutMs` fails. Callers that come during a run share it, so that asking often
 * does not load the dependencies.
 */
export function createHealth(
  checks: readonly HealthCheck[],
  timeoutMs = defaultTimeoutMs,
): () => Promise<HealthReport> {
  let running: Promise<HealthReport> | null = null;
  const run = async (): Promise<HealthReport> => {
    const results = await Promise.all(checks.map((check) => runCheck(check, timeoutMs)));
    return {
      ready: results.every((result) => result.status === 'ok' || !result.required),
      checks: results,
    };
  };
  return () => {
    running ??= run().finally(() => {
      running = null;
    });
    return running;
  };
}

async function runCheck(check: HealthCheck, timeoutMs: number): Promise<CheckResult> {
  const { name, required } = check;
  const known = check.details ? { details: check.details() } : {};
  try {
    await within(timeoutMs, check.check());
    return { name, required, status: 'ok', ...known };
  } catch (error) {
    return { name, required, status: 'failing', message: messageOf(error), ...known };
  }
}

/** The promise's outcome, or a rejection after some milliseconds, whichever comes first. */
export function within<Value>(milliseconds: number, promise: Promise<Value>): Promise<Value> {
  const deadline = startDeadline(milliseconds);
  return deadline.race(promise).finally(deadline.clear);
}

import { Problem } from '@counterfoil/kernel';

/** The SQLSTATE of a failure that Postgres reported; null for any other error. */
export function sqlState(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  const { code } = error;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

const inClass = (error: unknown, classes: readonly string[]): boolean => {
  const state = sqlState(error);
  return state !== null && classes.some((prefix) => state.startsWith(prefix));
};

/**
 * Tells whether the statement itself is at fault, with the rows it carries: repeating it would fail
 * again, and other tables are not concerned. Everything else (no connection, deadlock, full disk,
 * shutdown) may pass.
 */
export const isStatementFault = (error: unknown): boolean =>
  inClass(error, ['21', '22', '23', '42', '54', '0A']);

/** Tells whether a lock was not to be had in time. */
export const isLockTimeout = (error: unknown): boolean => sqlState(error) === '55P03';

/**
 * Tells whether the statement names something that does not exist (yet): a view, a table or a
 * column.
 */
export const isUndefined = (error: unknown): boolean => inClass(error, ['42P01', '42703', '3F000']);

/** The class of errors in what the driver has sent, such as too many parameters: repeating it changes nothing. */
const protocolViolation = '08P01';

const transientClasses = ['08', '25006', '40', '53', '55', '57', '58'];

const transportCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** Sentences by which the driver, which has no codes of its own, says that it has no connection. */
const transportMessages =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|connection error and is not queryable|Client was closed|timeout expired|database session has ended|pool after calling end/;

/** Tells whether Postgres cannot answer now but may later. */
export function isUnavailable(error: unknown): boolean {
  if (sqlState(error) === protocolViolation) return false;
  if (inClass(error, transientClasses)) return true;
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  if (!(error instanceof Error)) return false;
  if ('code' in error && transportCodes.has(String(error.code))) return true;
  return transportMessages.test(error.message);
}

const retryAfterSeconds = 2;

/**
 * Returns what a caller is told about a failed read: 503 for what may pass, else the error as it
 * is.
 */
export function readProblem(error: unknown): unknown {
  if (isUnavailable(error)) {
    return new Problem('service_unavailable', 'The read models cannot be reached. Retry shortly.', {
      retryAfterSeconds,
      cause: error,
    });
  }
  if (isUndefined(error)) {
    return new Problem('service_unavailable', 'The read model is being built. Retry shortly.', {
      retryAfterSeconds,
      cause: error,
    });
  }
  return error;
}

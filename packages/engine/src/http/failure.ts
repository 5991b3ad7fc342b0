import { Problem } from '@counterfoil/kernel';
import type { NextFunction, Request, Response } from 'express';
import { AppendError, StoreUnavailable } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import { exchangeOf } from './exchange.ts';
import { sendProblem } from './respond.ts';

/** Codes of the operating system and PostgreSQL for a server that does not answer. */
const connectionCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  '08000',
  '08001',
  '08003',
  '08006',
  '53300',
  '57P01',
  '57P02',
  '57P03',
]);

/** An error of the router, with a status, or of a connection, with a code. */
interface ReportedError extends Error {
  readonly status?: unknown;
  readonly code?: unknown;
}

const isUnavailable = (error: ReportedError): boolean =>
  error instanceof StoreUnavailable ||
  (error instanceof AppendError &&
    (error.failure === 'unavailable' || error.failure === 'unknown_outcome')) ||
  (typeof error.code === 'string' && connectionCodes.has(error.code));

const unavailable = (): Problem =>
  new Problem(
    'service_unavailable',
    'A part of the service cannot answer now. Repeat the request, with the same Idempotency-Key.',
  );

const internal = (): Problem =>
  new Problem(
    'internal_error',
    'Something failed that should not have. Report it with the request id in `instance`.',
  );

/** The problem that the router finds, before any of our code runs. */
const foundBefore = (error: ReportedError): Problem | null =>
  error.status === 400
    ? new Problem('validation_error', 'The request cannot be decoded. Check its encoding.')
    : null;

/** The problem that answers an error. Every unknown error is `internal_error`. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (!(error instanceof Error)) return internal();
  if (isUnavailable(error)) return unavailable();
  return foundBefore(error) ?? internal();
}

const maximumCause = 256;

/** The cause of a problem in one line, without statements or stacks. */
const shortCause = (cause: unknown): string => {
  if (!(cause instanceof Error)) return typeof cause;
  const code = 'code' in cause ? `${String(cause.code)}: ` : '';
  return `${code}${cause.message}`.slice(0, maximumCause);
};

/** The problem that answers an error, after a line of log for what the caller did not cause. */
export function reported(
  log: Log,
  error: unknown,
  { requestId, label }: { readonly requestId: string; readonly label: string },
): Problem {
  const problem = problemOf(error);
  if (problem.status >= 500 && problem !== error) {
    log.error({ err: error, request_id: requestId, route: label }, 'request failed');
  } else if (problem.cause !== undefined) {
    const cause = shortCause(problem.cause);
    log.warn({ cause, request_id: requestId, route: label }, 'request not carried out');
  }
  return problem;
}

/** The one place where errors become answers. An error that the caller did not cause is logged in full. */
export const failureHandler =
  (log: Log) =>
  // Express recognises an error handler by its four parameters.
  (error: unknown, _request: Request, response: Response, _next: NextFunction): void => {
    sendProblem(response, reported(log, error, exchangeOf(response)));
  };

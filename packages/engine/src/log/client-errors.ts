import {
  AppendError,
  type AppendFailure,
  ConsumerTooSlow,
  StoreRefused,
  StoreUnavailable,
} from './types.ts';

/**
 * The meaning of the client's errors, by their `type`. Only refusals that the server decided before
 * writing are named here. Everything else (time-outs, unknown errors) leaves it open whether the append
 * was written.
 */
const failureOfType: Readonly<Record<string, AppendFailure>> = {
  'wrong-expected-version': 'conflict',
  'stream-deleted': 'deleted',
  'maximum-append-size-exceeded': 'too_large',
  'access-denied': 'fatal',
  'invalid-argument': 'fatal',
  'missing-required-metadata-property': 'fatal',
};

interface ClientErrorLike {
  readonly type?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly actualVersion?: unknown;
  readonly expectedVersion?: unknown;
}

const fieldsOf = (error: unknown): ClientErrorLike =>
  typeof error === 'object' && error !== null ? error : {};

/**
 * The error of an append that had been given to the client, as the engine knows it. An error with
 * a gRPC status ended the stream that all appends share, whatever its type says, and says nothing
 * about any one of them; the answer to a single append has none.
 */
export function sentAppendError(stream: string, error: unknown): AppendError {
  const { type, code } = fieldsOf(error);
  const answer = code === undefined ? failureOfType[String(type)] : undefined;
  const message = `${stream}: ${describe(error)}`;
  return new AppendError(answer ?? 'unknown_outcome', message, { cause: error });
}

/** The error of an append that certainly was not given to the client. */
export const unsentAppendError = (stream: string, reason: string, cause?: unknown): AppendError =>
  new AppendError('unavailable', `${stream}: not sent: ${reason}`, { cause });

/** Errors of a read that another attempt cannot cure. */
const lastingReadFailures: ReadonlySet<unknown> = new Set(['invalid-argument', 'stream-deleted']);

/** The gRPC status of a caller whom the server does not know; one without a right has another. */
const unauthenticated = 16;

/** The error of a read or a subscription, as the engine knows it. */
export function readError(what: string, error: unknown): Error {
  const { type, code } = fieldsOf(error);
  if (type === 'access-denied') {
    return new StoreRefused(code === unauthenticated ? 'user' : 'right', { cause: error });
  }
  const message = `${what}: ${describe(error)}`;
  if (lastingReadFailures.has(type)) return new Error(message, { cause: error });
  const Loss = message.includes('Consumer too slow') ? ConsumerTooSlow : StoreUnavailable;
  return new Loss(message, { cause: error });
}

/** Tells whether the error only says that a stream was never written. */
export const isStreamNotFound = (error: unknown): boolean =>
  fieldsOf(error).type === 'stream-not-found';

/** gRPC status codes after which the client forgets its connection by itself. */
const reconnectCodes: ReadonlySet<unknown> = new Set([1, 14]);

/**
 * Tells whether the client keeps the cause of this error of its first question to the server, so that
 * every later append would fail in the same way for as long as the client lives.
 */
export const isKeptByClient = (error: unknown): boolean =>
  !reconnectCodes.has(fieldsOf(error).code);

/** One line about an error of the client, whose message is often empty. */
export function describe(error: unknown): string {
  const { type, message, actualVersion, expectedVersion } = fieldsOf(error);
  const parts = [typeof type === 'string' ? type : '', typeof message === 'string' ? message : ''];
  if (expectedVersion !== undefined) {
    parts.push(`expected ${String(expectedVersion)}, found ${String(actualVersion)}`);
  }
  return parts.filter(Boolean).join(', ') || String(error);
}

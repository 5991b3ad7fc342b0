import { BrokenInvariant, Problem } from '@counterfoil/kernel';
import { type AppendError, StoreUnavailable } from '../log/types.ts';

/** The mailbox of a stream is full: nothing was decided. */
export const tooManyWaiting = (): Problem =>
  new Problem(
    'service_unavailable',
    'Too many changes of this record are waiting. Retry shortly.',
    {
      retryAfterSeconds: 1,
    },
  );

/**
 * Others were faster in every round, and nothing of the command was appended. A caller with a precondition
 * must look at the record again; all others only have to come back.
 */
export const othersWereFaster = ({
  expectedRevision,
}: {
  readonly expectedRevision: number | null;
}): Problem =>
  expectedRevision === null
    ? new Problem('service_unavailable', 'Others keep changing this record. Retry shortly.', {
        retryAfterSeconds: 1,
      })
    : new Problem('version_conflict', 'Others keep changing this record. Read it again and retry.');

/** An append of unknown outcome was never confirmed: the command may still take effect. */
export const notConfirmed = (): Problem =>
  new Problem(
    'service_unavailable',
    'The event store does not confirm the change: it may or may not have been made. Retry with ' +
      'the same idempotency key.',
    { retryAfterSeconds: 1 },
  );

/** The event store does not answer. A request with a key can be repeated safely. */
function storeAway(cause: Error): Problem {
  const problem = new Problem(
    'service_unavailable',
    'The event store cannot be reached. Retry with the same idempotency key.',
    { retryAfterSeconds: 1 },
  );
  problem.cause = cause;
  return problem;
}

/** The problem that a failed read of the log is to the caller. */
export const readFailure = (error: unknown): unknown =>
  error instanceof StoreUnavailable ? storeAway(error) : error;

/** The error that an append which wrote nothing, and will not when repeated, is to the caller. */
export function appendFailure(stream: string, error: AppendError): Error {
  switch (error.failure) {
    case 'unavailable':
      return storeAway(error);
    case 'too_large':
      return new Problem(
        'payload_too_large',
        'The events of this change are larger than the log can take at once. Send less in one request.',
      );
    case 'deleted':
    case 'fatal':
    case 'conflict':
    case 'unknown_outcome':
      return new BrokenInvariant(`${stream}: append failed (${error.failure}): ${error.message}`);
    default:
      return error.failure satisfies never;
  }
}

/** gRPC statuses with the trailers from which the official client builds its error classes. */
import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import type { ExpectedRevision } from './commit-check.ts';
import { limits } from './limits.ts';
import { StoreBusyError, StoreUnavailableError } from './store.ts';

/** The status that ends a call. */
export type CallStatus = Pick<StatusObject, 'code' | 'details' | 'metadata'>;

const withTrailers = (
  code: status,
  details: string,
  trailers: Readonly<Record<string, string>> = {},
): CallStatus => {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(trailers)) metadata.set(key, printable(value));
  return { code, details, metadata };
};

/** Trailers carry printable ASCII only; other stream names are percent-encoded. */
function printable(value: string): string {
  return /^[\x20-\x7e]*$/.test(value) ? value : encodeURIComponent(value);
}

/** The number by which the real server names an expectation in trailers. */
function expectedNumber(expected: ExpectedRevision): string {
  if (typeof expected === 'bigint') return expected.toString();
  return { no_stream: '-1', any: '-2', stream_exists: '-4' }[expected];
}

/** The status of an append at another revision than expected. */
export function wrongExpectedVersion(
  streamName: string,
  expected: ExpectedRevision,
  lastRevision: number,
): CallStatus {
  return withTrailers(
    status.FAILED_PRECONDITION,
    `Append failed due to WrongExpectedVersion. Stream: ${printable(streamName)}, Expected version: ${expectedNumber(expected)}, Actual version: ${lastRevision}`,
    {
      exception: 'wrong-expected-version',
      'stream-name': streamName,
      'expected-version': expectedNumber(expected),
      'actual-version': String(lastRevision),
    },
  );
}

/** The status of a call about a stream that is deleted for ever. */
export function streamDeleted(streamName: string): CallStatus {
  return withTrailers(
    status.FAILED_PRECONDITION,
    `Event stream '${printable(streamName)}' is deleted.`,
    { exception: 'stream-deleted', 'stream-name': streamName },
  );
}

/** The status of an append beyond the maximum size. */
export function appendTooLarge(): CallStatus {
  return withTrailers(
    status.INVALID_ARGUMENT,
    `Maximum Append Size of ${limits.appendBytes} Exceeded.`,
    {
      exception: 'maximum-append-size-exceeded',
      'maximum-append-size': String(limits.appendBytes),
    },
  );
}

/** The status of an event without a type or a content type. */
export function missingEventProperty(): CallStatus {
  return withTrailers(status.INVALID_ARGUMENT, 'Required Metadata Property is Missing', {
    exception: 'missing-required-metadata-property',
    'required-metadata-properties': 'type,content-type',
  });
}

/** The status that ends a live subscription with more unsent events than a server keeps for it. */
export function consumerTooSlow(): CallStatus {
  const what = 'Consumer too slow to handle event while live. Client resubscription required.';
  return withTrailers(status.ABORTED, what);
}

/** The status of a malformed request. */
export function invalidArgument(problem: string): CallStatus {
  return withTrailers(status.INVALID_ARGUMENT, problem);
}

/** The status UNKNOWN, with which the real server answers some wrong requests. */
export function unknownError(problem: string): CallStatus {
  return withTrailers(status.UNKNOWN, problem);
}

/** The status of every call while the server ends or cannot write. */
export function unavailable(reason: string): CallStatus {
  return withTrailers(status.UNAVAILABLE, reason);
}

/** The status for an exception that a handler did not expect. */
export function statusOfError(error: unknown): CallStatus {
  if (error instanceof StoreUnavailableError || error instanceof StoreBusyError) {
    return unavailable(error.message);
  }
  const message = error instanceof Error ? error.message : String(error);
  return withTrailers(status.UNKNOWN, `Unexpected failure: ${printable(message)}`);
}

import type { ProblemReason } from './problem-reasons.ts';

/**
 * The one table of error codes (D4). Everything that a caller can cause is one of these;
 * whatever else goes wrong is `internal_error` and shows nothing of the inside.
 */
export const problemCodes = {
  validation_error: { status: 400, title: 'The request is malformed or a value is invalid' },
  invalid_operation: { status: 400, title: 'The state of the record does not allow this' },
  unauthenticated: { status: 401, title: 'The API key is missing, unknown, expired or revoked' },
  permission_denied: { status: 403, title: 'The API key has no right to do this' },
  not_found: { status: 404, title: 'There is no such record' },
  unknown_path: { status: 404, title: 'There is no such path' },
  method_not_allowed: { status: 405, title: 'The path exists, the method does not' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  already_exists: { status: 409, title: 'A value that must be unique is taken' },
  version_conflict: { status: 409, title: 'The record changed while this request was decided' },
  idempotency_conflict: { status: 409, title: 'The idempotency key was used with another body' },
  precondition_failed: { status: 412, title: 'The record is at another revision than If-Match' },
  payload_too_large: { status: 413, title: 'The request body is too large' },
  unsupported_media_type: { status: 415, title: 'The request body must be application/json' },
  too_many_requests: { status: 429, title: 'The API key or its tenant has used up its share' },
  internal_error: { status: 500, title: 'Something failed that should not have' },
  service_unavailable: { status: 503, title: 'A part of the service cannot answer now' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problemCodes;

/** A wrong place in the request: a JSON pointer (RFC 6901) and what is wrong there. */
export interface FieldProblem {
  readonly pointer: string;
  readonly message: string;
}

export interface ProblemOptions {
  readonly details?: Readonly<Record<string, unknown>>;
  readonly errors?: readonly FieldProblem[];
  /** Seconds after which a repetition makes sense; becomes the Retry-After header. */
  readonly retryAfterSeconds?: number;
  /**
   * True when a request with an idempotency key gets this answer for ever, even if it could succeed
   * later (D30). The refusal is then recorded in the record's own stream.
   */
  readonly isRemembered?: boolean;
  /** The failure behind it, for the log of the operator: no caller sees it. */
  readonly cause?: unknown;
}

/** A failure that the caller caused or must know about. Nothing has been stored when it is thrown. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly errors: readonly FieldProblem[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly isRemembered: boolean;

  /** `message` is for people: what is wrong and what to do about it. */
  constructor(code: ProblemCode, message: string, options: ProblemOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : {});
    this.name = 'Problem';
    this.code = code;
    this.details = options.details;
    this.errors = options.errors;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isRemembered = options.isRemembered ?? false;
  }

  get status(): number {
    return problemCodes[this.code].status;
  }
}

/** A value of the request is invalid: 400 with a JSON pointer to it. */
export const invalidField = (pointer: string, message: string): Problem =>
  new Problem('validation_error', `${pointer.slice(1) || 'request'}: ${message}`, {
    errors: [{ pointer, message }],
  });

/** The record that a path or a field names does not exist for this caller (D5). */
export const notFound = (what: string, id: string, field = 'id'): Problem =>
  new Problem('not_found', `There is no ${what} with ${field} ${JSON.stringify(id)}.`, {
    details: { field, value: id },
  });

/** The details of a refusal: its reason (D38), and the figures that were in the way. */
export interface RefusalDetails extends Readonly<Record<string, unknown>> {
  readonly reason: ProblemReason;
}

/** The state of a record does not allow the operation: 400 (D4). */
export const invalidOperation = (message: string, details: RefusalDetails): Problem =>
  new Problem('invalid_operation', message, { details });

/** The same, remembered under the idempotency key of the request, if it has one (D30). */
export const refusal = (message: string, details: RefusalDetails): Problem =>
  new Problem('invalid_operation', message, { isRemembered: true, details });

/**
 * Thrown by a decision that refuses its request, and by that leads to events of the record. They are
 * appended behind the refusal, which is recorded with or without an idempotency key.
 */
export class RefusedWithEvents extends Error {
  readonly problem: Problem;
  readonly events: readonly { readonly type: string; readonly data: unknown }[];

  constructor(problem: Problem, events: RefusedWithEvents['events']) {
    super(problem.message);
    this.name = 'RefusedWithEvents';
    this.problem = problem;
    this.events = events;
  }
}

/** Thrown when the program itself is wrong. It is never answered in detail and appends nothing. */
export class BrokenInvariant extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BrokenInvariant';
  }
}

/** States what must be true. Throws `BrokenInvariant` when it is not. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new BrokenInvariant(message);
}

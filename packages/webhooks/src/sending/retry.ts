/** The result of an attempt, as far as the next one depends on it. */
export type AttemptResult =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly retryAfterSeconds: number | null;
      /** The receiver's instruction beside its status. */
      readonly instruction?: Instruction | null;
    }
  | { readonly kind: 'failure'; readonly reason: FailureReason };

/** The header `webhook-delivery` of an answer: give this message up, or disable the endpoint. */
export type Instruction = 'abort_message' | 'disable';

/** Reads the header. Null when there is none, or one that means nothing. */
export function readInstruction(header: string | undefined): Instruction | null {
  const text = header?.trim().toLowerCase();
  if (text === 'disable') return 'disable';
  return text === 'abort-message' ? 'abort_message' : null;
}

/** The reason why there was no answer. */
export type FailureReason =
  /** No complete answer within the time allowed. */
  | 'time_out'
  /** The name does not resolve. */
  | 'name'
  /** The address is one that we do not send to (see target-guard.ts). */
  | 'blocked_address'
  /** The certificate or the handshake was refused. */
  | 'tls'
  /** The connection was refused, cut or answered with something that is not HTTP. */
  | 'connection'
  /** It could not be made here: the secret does not open with the key of this process, for one. */
  | 'sealed'
  /** The worker gave it up before its time, because too many others were slow as well. */
  | 'cut_off';

/** Failures that are the worker's own, and say nothing about the endpoint. */
export const isWorkerFailure = (result: AttemptResult): boolean =>
  result.kind === 'failure' && (result.reason === 'sealed' || result.reason === 'cut_off');

/** The waits between attempts, and their number. */
export interface RetryPolicy {
  /** Milliseconds to wait after the first, second, … failure; the ladder's end exhausts. */
  readonly ladder: readonly number[];
  /** Least wait in milliseconds after an answer that says "slow down", or after a time-out. */
  readonly slowDown: number;
  /** A receiver's Retry-After counts up to this (or twice the step, whichever is longer). */
  readonly retryAfterMaximum: number;
  /** Attempts that a blocked address gets in all: it will hardly become a public one. */
  readonly blockedAttempts: number;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** 11 attempts over about 75.6 hours. */
export const standardRetryPolicy: RetryPolicy = {
  ladder: [
    5 * second,
    minute,
    5 * minute,
    30 * minute,
    2 * hour,
    5 * hour,
    10 * hour,
    14 * hour,
    20 * hour,
    24 * hour,
  ],
  slowDown: minute,
  retryAfterMaximum: hour,
  blockedAttempts: 3,
};

/** The step that follows an attempt. `delay` is in milliseconds. */
export type FollowUp =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly delay: number }
  /** `attempts`: there are no more of them; `refused`: another one would not be welcome or of use. */
  | { readonly kind: 'exhausted'; readonly cause: 'attempts' | 'refused' };

const gone = 410;
const slowDownStatuses: readonly number[] = [429, 502, 503, 504];
const jitterShare = 0.2;

const asksToSlowDown = (result: AttemptResult): boolean =>
  result.kind === 'answer'
    ? slowDownStatuses.includes(result.status)
    : result.reason === 'time_out';

/** The step of the ladder, moved by up to a fifth in either direction so that retries spread. */
const jittered = (step: number, jitter: number): number =>
  Math.round(step * (1 - jitterShare + 2 * jitterShare * jitter));

/**
 * Returns the step that follows an attempt. Pure.
 *
 * `failures` counts the failed attempts including this one, from 1; `jitter` is a random number
 * in [0, 1). A 2xx delivers, 410 or an instruction end it, everything else, redirects included, is a failure.
 */
export function followUpOf(
  result: AttemptResult,
  failures: number,
  policy: RetryPolicy,
  jitter: number,
): FollowUp {
  if (result.kind === 'answer') {
    if (result.status >= 200 && result.status < 300) return { kind: 'delivered' };
    const isRefused = result.instruction !== undefined && result.instruction !== null;
    if (result.status === gone || isRefused) return { kind: 'exhausted', cause: 'refused' };
  }
  const blocked = result.kind === 'failure' && result.reason === 'blocked_address';
  if (blocked && failures >= policy.blockedAttempts) {
    return { kind: 'exhausted', cause: 'refused' };
  }
  const step = policy.ladder[failures - 1];
  if (step === undefined) return { kind: 'exhausted', cause: 'attempts' };
  const wait = Math.max(jittered(step, jitter), asksToSlowDown(result) ? policy.slowDown : 0);
  return { kind: 'retry', delay: withRetryAfter(result, wait, policy) };
}

/** The receiver may lengthen the wait, within limits; it cannot shorten it. */
function withRetryAfter(result: AttemptResult, wait: number, policy: RetryPolicy): number {
  if (result.kind !== 'answer' || result.retryAfterSeconds === null) return wait;
  const longest = Math.max(2 * wait, policy.retryAfterMaximum);
  return Math.min(Math.max(result.retryAfterSeconds * second, wait), longest);
}

/**
 * Reads a Retry-After header (RFC 9110): seconds or an HTTP date, relative to `now` in
 * milliseconds since 1970. Null when there is none or it makes no sense. Never negative.
 */
export function readRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - now) / second));
}

/**
 * Tells whether the receiver wants the endpoint disabled: by 410, or by the header
 * `webhook-delivery`. Null when it does not.
 */
export function disableReasonOf(result: AttemptResult): 'gone' | 'by_receiver' | null {
  if (result.kind !== 'answer') return null;
  if (result.status === gone) return 'gone';
  return result.instruction === 'disable' ? 'by_receiver' : null;
}

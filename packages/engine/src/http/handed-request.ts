import type { IncomingHttpHeaders } from 'node:http';
import {
  type EnvironmentId,
  type Instant,
  type KeyId,
  Problem,
  type ProblemCode,
  type ProblemOptions,
  type TenantId,
} from '@counterfoil/kernel';
import type { RouteKey } from '../define/route.ts';
import type { Sized } from '../members/handover.ts';
import type { Rendered, RunMarks } from './answer.ts';

/** The headers that say how a request is carried out. All others concern the process that it came to. */
const carriedHeaders = [
  'idempotency-key',
  'if-match',
  'counterfoil-min-position',
  'prefer',
] as const satisfies readonly (keyof IncomingHttpHeaders | 'counterfoil-min-position')[];

/**
 * A key by which a request that two processes decide has one effect. The caller knows nothing of it: what
 * it has to remember are effects, until the request may have been carried out elsewhere already.
 */
export interface MadeKey {
  readonly key: string;
  readonly remembersRefusals: boolean;
}

/** A request as one process hands it to another: as it arrived, after its caller was made out. */
export interface HandedRequest {
  readonly route: RouteKey;
  readonly params: Readonly<Record<string, string>>;
  /** The path with the query, for the query. */
  readonly url: string;
  /** The text of the body; null for none. */
  readonly body: string | null;
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  readonly receivedAt: Instant;
  readonly caller: HandedCaller;
  readonly madeKey: MadeKey | null;
}

/** The caller: the other process knows the key, and looks it up for itself. */
export interface HandedCaller {
  readonly tenantId: TenantId;
  readonly environmentId: EnvironmentId;
  readonly keyId: KeyId;
}

interface HandedMarks {
  readonly position: string | null;
  readonly replayed: boolean;
  readonly lagMilliseconds: number | null;
}

/** The answer to a request that was handed over. */
export type HandedAnswer = HandedMarks &
  (
    | ({ readonly kind: 'result'; readonly ignored: readonly string[] } & Rendered)
    | ({ readonly kind: 'problem'; readonly code: ProblemCode; readonly message: string } & Pick<
        ProblemOptions,
        'details' | 'errors' | 'retryAfterSeconds'
      >)
  );

/** The bytes of a message around the body of a request, or the text of an answer: a generous guess. */
const envelopeBytes = 2_048;

/** About the size of something in a message; its text may double there, by quotation marks. */
export const sized = <Value>(value: Value, text: string | null): Sized<Value> => ({
  value,
  bytes: envelopeBytes + 2 * Buffer.byteLength(text ?? ''),
});

/** The headers that go with a request. */
export function carriedFrom(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const carried: Record<string, string | string[]> = {};
  for (const name of carriedHeaders) {
    const value = headers[name];
    if (value !== undefined) carried[name] = value;
  }
  return carried;
}

/** The marks of a run, as a message carries them. */
const handedMarks = ({ position, replayed, lagMilliseconds }: RunMarks): HandedMarks => ({
  position: position === null ? null : String(position),
  replayed,
  lagMilliseconds,
});

const noMarks: RunMarks = { position: null, replayed: false, lagMilliseconds: null };

/** The marks of a run that a message brought. */
export const marksOf = ({ position, replayed, lagMilliseconds }: HandedMarks): RunMarks => ({
  position: position === null ? null : BigInt(position),
  replayed,
  lagMilliseconds,
});

/** A result as it goes back. */
export const handedResult = (
  marks: RunMarks,
  ignored: readonly string[],
  rendered: Rendered,
): HandedAnswer => ({ kind: 'result', ...handedMarks(marks), ignored, ...rendered });

/** A failure as it goes back. */
export function handedProblem(marks: RunMarks | null, problem: Problem): HandedAnswer {
  const { code, message, details, errors, retryAfterSeconds } = problem;
  return {
    kind: 'problem',
    ...handedMarks(marks ?? noMarks),
    code,
    message,
    ...(details ? { details } : {}),
    ...(errors ? { errors } : {}),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

/** The failure that came back. */
export const problemFrom = ({
  code,
  message,
  ...options
}: Extract<HandedAnswer, { kind: 'problem' }>): Problem => new Problem(code, message, options);

import type { Principal } from '../define/context.ts';
import type { Sized } from '../members/handover.ts';
import type { RunMarks } from './answer.ts';
import { type Call, type CallSettings, carryOut, type Parts, partsOf } from './carry-out.ts';
import type { Endpoint } from './endpoint.ts';
import { reported } from './failure.ts';
import {
  type HandedAnswer,
  type HandedRequest,
  handedProblem,
  handedResult,
  sized,
} from './handed-request.ts';
import type { HttpSettings } from './host.ts';
import { parseJsonBody } from './json-body.ts';
import type { Pieces } from './pieces.ts';
import { rendered } from './respond.ts';
import { assertAllowed } from './steps.ts';
import type { Turns } from './turns.ts';

interface TakeOverOptions extends CallSettings, Pick<HttpSettings, 'log'> {
  /** The endpoint of a route; null when there is none. */
  readonly endpointOf: (route: HandedRequest['route']) => Endpoint | null;
  readonly turns: Turns;
}

/** A request that did not come over HTTP. */
export interface ArrivedRequest extends Omit<HandedRequest, 'body' | 'caller'> {
  /** The body as UTF-8; null for none. */
  readonly bytes: Buffer | null;
}

/** Carries a request out here. It is not handed on. */
export type CarryOut = (
  endpoint: Endpoint,
  request: ArrivedRequest,
  caller: Principal,
) => Promise<HandedAnswer>;

/**
 * Makes the way of requests that do not come over HTTP: the same checks, the same handlers and the same turns of
 * tenants as those of requests that do.
 */
export const carryOutWith =
  (options: TakeOverOptions): CarryOut =>
  (endpoint, request, caller) =>
    new Promise((resolve) => {
      const { tenantId: tenant } = caller;
      const refuse = (error: unknown): void => resolve(problemOf(options, request, null, error));
      const done = ({ call, parts }: Checked): void =>
        resolve(answerTo(options, request, call, parts));
      const pieces = checked(options, request, endpoint, caller);
      options.turns.take(tenant, () =>
        options.turns.goOn({ tenant, pieces, done, failed: refuse }),
      );
    });

/** Makes the way of requests that other processes hand over. */
export const takeOverWith =
  ({ endpointOf }: Pick<TakeOverOptions, 'endpointOf'>, carryOutHere: CarryOut) =>
  async (request: HandedRequest, caller: Principal): Promise<Sized<HandedAnswer> | null> => {
    const endpoint = endpointOf(request.route);
    if (endpoint === null) return null;
    const bytes = request.body === null ? null : Buffer.from(request.body);
    const answer = await carryOutHere(endpoint, { ...request, bytes }, caller);
    return sized(answer, answer.kind === 'result' ? answer.text : answer.message);
  };

interface Checked {
  readonly call: Call;
  readonly parts: Parts;
}

function* checked(
  options: TakeOverOptions,
  request: ArrivedRequest,
  endpoint: Endpoint,
  caller: Principal,
): Pieces<Checked> {
  assertAllowed(endpoint, caller);
  const { params, url, headers, requestId, receivedAt, madeKey } = request;
  const body =
    request.bytes === null ? undefined : yield* parseJsonBody(request.bytes, endpoint.bodyContents);
  const about = { endpoint, params, url, headers, body, caller, requestId, receivedAt };
  const call: Call = { ...about, madeKey, mayGoElsewhere: false };
  return { call, parts: yield* partsOf(call, options) };
}

async function answerTo(
  options: TakeOverOptions,
  request: ArrivedRequest,
  call: Call,
  parts: Parts,
): Promise<HandedAnswer> {
  let marks: RunMarks | null = null;
  try {
    const result = await carryOut(options, call, parts, (run) => {
      marks = run;
    });
    const text = rendered(call.endpoint, call.params, result);
    return handedResult(marks as unknown as RunMarks, parts.ignored, text);
  } catch (error) {
    return problemOf(options, request, marks, error);
  }
}

const problemOf = (
  { log }: TakeOverOptions,
  { requestId, route }: ArrivedRequest,
  marks: RunMarks | null,
  error: unknown,
): HandedAnswer => handedProblem(marks, reported(log, error, { requestId, label: route }));

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

/**
 * Makes the way of requests that other processes hand over: the same checks, the same handlers and the same
 * turns of tenants as those of requests that come here. They are not handed on.
 */
export const takeOverWith =
  (options: TakeOverOptions) =>
  async (request: HandedRequest, caller: Principal): Promise<Sized<HandedAnswer> | null> => {
    const endpoint = options.endpointOf(request.route);
    if (endpoint === null) return null;
    const { tenantId: tenant } = caller;
    const answer = await new Promise<HandedAnswer>((resolve) => {
      const refuse = (error: unknown): void => resolve(problemOf(options, request, null, error));
      const done = ({ call, parts }: Checked): void =>
        resolve(answerTo(options, request, call, parts));
      const pieces = checked(options, request, endpoint, caller);
      options.turns.take(tenant, () =>
        options.turns.goOn({ tenant, pieces, done, failed: refuse }),
      );
    });
    return sized(answer, answer.kind === 'result' ? answer.text : answer.message);
  };

interface Checked {
  readonly call: Call;
  readonly parts: Parts;
}

function* checked(
  options: TakeOverOptions,
  request: HandedRequest,
  endpoint: Endpoint,
  caller: Principal,
): Pieces<Checked> {
  assertAllowed(endpoint, caller);
  const { params, url, headers, requestId, receivedAt, madeKey } = request;
  const body =
    request.body === null
      ? undefined
      : yield* parseJsonBody(Buffer.from(request.body), endpoint.bodyContents);
  const about = { endpoint, params, url, headers, body, caller, requestId, receivedAt };
  const call: Call = { ...about, madeKey, mayGoElsewhere: false };
  return { call, parts: yield* partsOf(call, options) };
}

async function answerTo(
  options: TakeOverOptions,
  request: HandedRequest,
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
  { requestId, route }: HandedRequest,
  marks: RunMarks | null,
  error: unknown,
): HandedAnswer => handedProblem(marks, reported(log, error, { requestId, label: route }));

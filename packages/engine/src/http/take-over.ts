import type { Principal } from '../define/context.ts';
import type { Sized } from '../members/handover.ts';
import type { RunMarks } from './answer.ts';
import { type Call, type CallSettings, carryOut } from './carry-out.ts';
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
    await new Promise<void>((resolve) => options.turns.take(caller.tenantId, resolve));
    const answer = await answerTo(options, request, endpoint, caller);
    return sized(answer, answer.kind === 'result' ? answer.text : answer.message);
  };

async function answerTo(
  options: TakeOverOptions,
  request: HandedRequest,
  endpoint: Endpoint,
  caller: Principal,
): Promise<HandedAnswer> {
  const ignored: string[] = [];
  const { params, url, headers, requestId, receivedAt, madeKey } = request;
  let marks: RunMarks | null = null;
  try {
    assertAllowed(endpoint, caller);
    const body = request.body === null ? undefined : parseJsonBody(Buffer.from(request.body));
    const parts = { endpoint, params, url, headers, body, ignored, caller, requestId, receivedAt };
    const call: Call = { ...parts, madeKey, mayGoElsewhere: false };
    const result = await carryOut(options, call, (run) => {
      marks = run;
    });
    return handedResult(marks as unknown as RunMarks, ignored, rendered(endpoint, params, result));
  } catch (error) {
    return handedProblem(marks, reported(options.log, error, { requestId, label: endpoint.key }));
  }
}

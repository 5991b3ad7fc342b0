import { invariant, Problem } from '@counterfoil/kernel';
import type { Principal } from '../define/context.ts';
import type { RouteKey } from '../define/route.ts';
import type { Endpoint } from './endpoint.ts';
import { reported } from './failure.ts';
import { problemFrom } from './handed-request.ts';
import type { HttpSettings } from './host.ts';
import type { MessageAnswer, MessageRequest } from './message.ts';
import { problemBody } from './problem-body.ts';
import type { RateCounter } from './rate-limit.ts';
import { tooLarge } from './read-body.ts';
import type { CarryOut } from './take-over.ts';

interface AnswerOptions extends Pick<HttpSettings, 'log' | 'requestTimeoutMs'> {
  readonly endpointOf: (route: RouteKey) => Endpoint | null;
  readonly countRate: RateCounter;
  readonly carryOut: CarryOut;
}

/** The answer that tells of a failure. */
export function failedAnswer(problem: Problem, requestId: string): MessageAnswer {
  const { status, code, retryAfterSeconds = null } = problem;
  const text = JSON.stringify(problemBody(problem, requestId));
  return { status, code, position: null, retryAfterSeconds, text };
}

/**
 * Makes the way of requests that come in messages: the caller, the rate and the right are looked at as over HTTP,
 * and so is everything after that. It does not reject. `callerOf` gives null for a caller that counts no more.
 */
export const answerMessagesWith =
  (options: AnswerOptions) =>
  async (request: MessageRequest, callerOf: () => Principal | null): Promise<MessageAnswer> => {
    const { requestId, route } = request;
    try {
      const endpoint = options.endpointOf(route);
      invariant(endpoint, `there is no route ${route}`);
      const caller = callerOf();
      if (caller === null) throw unknownCaller();
      const { refusal } = options.countRate(caller);
      if (refusal) throw refusal;
      const { bodyLimitBytes, route: definition } = endpoint;
      if (request.bytes.length > bodyLimitBytes) throw tooLarge(bodyLimitBytes);
      const answer = await inTime(
        options.requestTimeoutMs,
        options.carryOut(endpoint, arrived(request), caller),
      );
      if (answer.kind === 'problem') return failedAnswer(problemFrom(answer), requestId);
      const { position, text } = answer;
      const rest = { code: null, position, retryAfterSeconds: null };
      return { status: definition.status, ...rest, text: text ?? 'null' };
    } catch (error) {
      return failedAnswer(reported(options.log, error, { requestId, label: route }), requestId);
    }
  };

const arrived = ({ route, bytes, ...request }: MessageRequest) => ({
  ...request,
  route,
  bytes,
  params: {},
  url: route.slice(route.indexOf(' ') + 1),
  madeKey: null,
});

/** Waits for an answer so long. Throws 503 when it does not come: nobody knows then whether it has an effect. */
async function inTime<Answer>(milliseconds: number, answer: Promise<Answer>): Promise<Answer> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooLate()), milliseconds);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const unknownCaller = (): Problem =>
  new Problem(
    'unauthenticated',
    'The API key that these credentials were issued for is unknown, expired or revoked. Issue others.',
  );

const tooLate = (): Problem =>
  new Problem('service_unavailable', 'It took too long, and its effect is unknown. Send it again.');

import type { Instant, ProblemCode } from '@counterfoil/kernel';
import type { Response } from 'express';
import type { Principal } from '../define/context.ts';
import type { RunMarks } from './answer.ts';
import type { Place } from './body-room.ts';
import type { Endpoint } from './endpoint.ts';
import type { PathParameters } from './path-index.ts';
import type { BodyBytes } from './read-body.ts';

/** The state that the steps of one request share, in `response.locals`. */
export class Exchange {
  readonly requestId: string;
  /** The arrival of the request by the system's clock. */
  readonly receivedAt: Instant;
  /** Milliseconds of a clock that never jumps, for the duration. */
  readonly startedAt: number = performance.now();
  /** The label of logs and metrics: a route key, or a name for a request that meets no route. */
  label = 'unknown';
  /** True for requests that machines repeat all the time, which are not worth a line of log. */
  isRoutine = false;
  endpoint: Endpoint | null = null;
  /** The values of the placeholders of its path. */
  parameters: PathParameters = {};
  principal: Principal | null = null;
  /** The room that a large body takes, or waits for. */
  place: Place | null = null;
  /** The body as it came, until the answer is sent; null when there is none. */
  bytes: BodyBytes | null = null;
  /** The parsed JSON of the body; undefined when there is none. */
  body: unknown = undefined;
  run: RunMarks | null = null;
  /** The progress of admission: counted for its tenant, waiting for room, and then among the requests in hand. */
  stage: 'arrived' | 'open' | 'waiting' | 'in_hand' = 'arrived';
  /** Looks at the pace of the body while that is read. */
  pace: NodeJS.Timeout | null = null;
  /** The failure that was answered. */
  failure: ProblemCode | null = null;
  /** Fires when the request takes too long. */
  deadline: NodeJS.Timeout | null = null;

  constructor(requestId: string, receivedAt: Instant) {
    this.requestId = requestId;
    this.receivedAt = receivedAt;
  }
}

/** The exchange that the first step put there. */
export const exchangeOf = (response: Response): Exchange => response.locals.exchange as Exchange;

/** The endpoint of a request that was routed to one. */
export function endpointOf(exchange: Exchange): Endpoint {
  if (exchange.endpoint === null) throw new TypeError('the request has no endpoint');
  return exchange.endpoint;
}

/** The principal of a request that has passed authentication. */
export function principalOf(exchange: Exchange): Principal {
  if (exchange.principal === null) throw new TypeError('the request has no principal');
  return exchange.principal;
}

import type { IncomingHttpHeaders } from 'node:http';
import type { Instant, ProblemCode } from '@counterfoil/kernel';
import type { RouteKey } from '../define/route.ts';

/** A request that came in a message, to a route without parameters. */
export interface MessageRequest {
  readonly route: RouteKey;
  /** The body, in UTF-8. */
  readonly bytes: Buffer;
  /** The headers that say how it is carried out, by their names over HTTP. */
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  readonly receivedAt: Instant;
}

/** The answer to it, as it would have come over HTTP. */
export interface MessageAnswer {
  readonly status: number;
  /** The code of a failure; null for a success. */
  readonly code: ProblemCode | null;
  /** Position in the log of what was written; null when nothing was. */
  readonly position: string | null;
  /** Seconds after which it may be repeated; null when it need not be. */
  readonly retryAfterSeconds: number | null;
  /** The JSON of the body. */
  readonly text: string;
}

import { Problem } from '@counterfoil/kernel';
import type { RequestHandler } from 'express';
import { MemoryStore, rateLimit } from 'express-rate-limit';
import { exchangeOf, principalOf } from './exchange.ts';
import type { RateLimit } from './host.ts';

const windowMs = 1_000;

/** The step that counts requests. */
export interface RateLimiter {
  readonly step: RequestHandler;
  /** Ends the timer of the counters. */
  close(): void;
}

/** Counts requests per API key and second, reports them in `RateLimit` headers, and refuses the rest. */
export function createRateLimiter({ perSecond, perSecondOf }: RateLimit): RateLimiter {
  const store = new MemoryStore();
  const step = rateLimit({
    windowMs,
    store,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    // Its run-time checks are for IP addresses behind proxies; our keys are key ids.
    validate: false,
    keyGenerator: (_request, response) => principalOf(exchangeOf(response)).keyId,
    limit: (_request, response) => perSecondOf?.(principalOf(exchangeOf(response))) ?? perSecond,
    handler: () => {
      throw new Problem(
        'too_many_requests',
        'This API key has made too many requests in this second. Repeat after Retry-After seconds.',
        { retryAfterSeconds: windowMs / 1_000 },
      );
    },
  });
  return { step, close: () => store.shutdown() };
}

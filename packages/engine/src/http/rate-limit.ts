import { Problem } from '@counterfoil/kernel';
import type { RequestHandler } from 'express';
import { MemoryStore, rateLimit } from 'express-rate-limit';
import type { Principal } from '../define/context.ts';
import { exchangeOf, principalOf } from './exchange.ts';
import type { RateLimit } from './host.ts';
import { keysAtFullRate } from './limits.ts';

const windowMs = 1_000;

/** The steps that count requests. */
export interface RateLimiter {
  readonly steps: readonly RequestHandler[];
  /** Ends the timers of the counters. */
  close(): void;
}

/**
 * Counts requests per API key and second, reports them in `RateLimit` headers, and refuses the rest. So
 * that many keys do not make a larger share, a tenant has the rate of `keysAtFullRate` keys.
 */
export function createRateLimiter({ perSecond, perSecondOf }: RateLimit): RateLimiter {
  const stores = [new MemoryStore(), new MemoryStore()] as const;
  const limitOf = (principal: Principal): number => perSecondOf?.(principal) ?? perSecond;
  const ofKey = rateLimit({
    ...common,
    store: stores[0],
    standardHeaders: 'draft-8',
    keyGenerator: (_request, response) => principalOf(exchangeOf(response)).keyId,
    limit: (_request, response) => limitOf(principalOf(exchangeOf(response))),
    handler: () => refuse('API key'),
  });
  const ofTenant = rateLimit({
    ...common,
    store: stores[1],
    standardHeaders: false,
    keyGenerator: (_request, response) => principalOf(exchangeOf(response)).tenantId,
    limit: (_request, response) => keysAtFullRate * limitOf(principalOf(exchangeOf(response))),
    handler: () => refuse('tenant'),
  });
  return {
    steps: [ofKey, ofTenant],
    close: () => {
      for (const store of stores) store.shutdown();
    },
  };
}

const common = {
  windowMs,
  legacyHeaders: false,
  // Its run-time checks are for IP addresses behind proxies; our keys are ids.
  validate: false,
} as const;

function refuse(who: string): never {
  throw new Problem(
    'too_many_requests',
    `This ${who} has made too many requests in this second. Repeat after Retry-After seconds.`,
    { retryAfterSeconds: windowMs / 1_000 },
  );
}

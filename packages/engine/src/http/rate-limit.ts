import { Problem } from '@counterfoil/kernel';
import type { Principal } from '../define/context.ts';
import { exchangeOf, principalOf } from './exchange.ts';
import type { RateLimit } from './host.ts';
import { keysAtFullRate } from './limits.ts';
import type { Step } from './steps.ts';

const windowMs = 1_000;

/** A request as it counts in the rate of its API key and tenant. */
interface Counted {
  /** Requests that the key may make in a second, and those that are left of this one. */
  readonly limit: number;
  readonly left: number;
  /** The 429 for a request beyond that; null for all others. */
  readonly refusal: Problem | null;
}

/** Counts a request of a caller. */
export type RateCounter = (caller: Principal) => Counted;

/**
 * Makes the counter of requests per API key and second. So that many keys do not make a larger share, a tenant has
 * the rate of `keysAtFullRate` keys. `now` gives milliseconds.
 */
export function createRateCounter(
  { perSecond, perSecondOf }: RateLimit,
  now: () => number = () => performance.now(),
): RateCounter {
  const limitOf = (principal: Principal): number => perSecondOf?.(principal) ?? perSecond;
  // Of this second alone, by the ids of keys and tenants, which differ.
  let counts = new Map<string, number>();
  let endsAt = 0;

  function count(id: string): number {
    const requests = (counts.get(id) ?? 0) + 1;
    counts.set(id, requests);
    return requests;
  }

  function refusalOf(left: number, limit: number, tenantId: string): Problem | null {
    if (left < 0) return tooMany('API key');
    return count(tenantId) > keysAtFullRate * limit ? tooMany('tenant') : null;
  }

  return (principal) => {
    const { keyId, tenantId } = principal;
    const at = now();
    if (at >= endsAt) {
      counts = new Map();
      endsAt = at + windowMs;
    }
    const limit = limitOf(principal);
    const left = limit - count(keyId);
    return { limit, left, refusal: refusalOf(left, limit, tenantId) };
  };
}

/** Makes the step that reports the rate in `RateLimit` headers, and refuses what is beyond it. */
export const limitRateWith =
  (count: RateCounter): Step =>
  (_request, response, next) => {
    const { limit, left, refusal } = count(principalOf(exchangeOf(response)));
    const policy = `"${limit}-in-1sec"`;
    response.setHeader('RateLimit', `${policy}; r=${Math.max(0, left)}; t=1`);
    response.setHeader('RateLimit-Policy', `${policy}; q=${limit}; w=1`);
    if (refusal) throw refusal;
    next();
  };

const tooMany = (who: string): Problem =>
  new Problem(
    'too_many_requests',
    `This ${who} has made too many requests in this second. Repeat after Retry-After seconds.`,
    { retryAfterSeconds: windowMs / 1_000 },
  );

import { Problem } from '@counterfoil/kernel';
import type { Principal } from '../define/context.ts';
import { exchangeOf, principalOf } from './exchange.ts';
import type { RateLimit } from './host.ts';
import { keysAtFullRate } from './limits.ts';
import type { Step } from './steps.ts';

const windowMs = 1_000;

/**
 * Makes the step that counts requests per API key and second, reports them in `RateLimit` headers, and refuses
 * the rest. So that many keys do not make a larger share, a tenant has the rate of `keysAtFullRate` keys.
 * `now` gives milliseconds.
 */
export function createRateLimiter(
  { perSecond, perSecondOf }: RateLimit,
  now: () => number = () => performance.now(),
): Step {
  const limitOf = (principal: Principal): number => perSecondOf?.(principal) ?? perSecond;
  // Of this second alone, by the ids of keys and tenants, which differ.
  let counts = new Map<string, number>();
  let endsAt = 0;

  function count(id: string): number {
    const requests = (counts.get(id) ?? 0) + 1;
    counts.set(id, requests);
    return requests;
  }

  return (_request, response, next) => {
    const principal = principalOf(exchangeOf(response));
    const { keyId, tenantId } = principal;
    const at = now();
    if (at >= endsAt) {
      counts = new Map();
      endsAt = at + windowMs;
    }
    const limit = limitOf(principal);
    const left = limit - count(keyId);
    const policy = `"${limit}-in-1sec"`;
    response.setHeader('RateLimit', `${policy}; r=${Math.max(0, left)}; t=1`);
    response.setHeader('RateLimit-Policy', `${policy}; q=${limit}; w=1`);
    if (left < 0) throw tooMany('API key');
    if (count(tenantId) > keysAtFullRate * limit) throw tooMany('tenant');
    next();
  };
}

const tooMany = (who: string): Problem =>
  new Problem(
    'too_many_requests',
    `This ${who} has made too many requests in this second. Repeat after Retry-After seconds.`,
    { retryAfterSeconds: windowMs / 1_000 },
  );

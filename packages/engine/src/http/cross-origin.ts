import type { Step } from './steps.ts';

/** Seconds for which a browser keeps the answer to a preflight. */
const preflightSeconds = '600';

const requestHeaders =
  'x-api-key, Content-Type, Idempotency-Key, If-Match, If-None-Match, Counterfoil-Min-Position, Prefer, X-Request-Id';

const responseHeaders =
  'X-Request-Id, Counterfoil-Position, Counterfoil-Lag-Ms, Counterfoil-Ignored, Idempotency-Replayed, ' +
  'ETag, Location, RateLimit, RateLimit-Policy, Retry-After';

/** Lets pages of some origins, or with `*` of all, call the API from a browser. Others get no word of it. */
export function crossOrigin(origins: readonly string[]): Step {
  const known = new Set(origins);
  return (request, response, next) => {
    const { origin } = request.headers;
    if (known.size === 0 || origin === undefined) return next();
    response.setHeader('Vary', 'Origin');
    if (!known.has('*') && !known.has(origin)) return next();
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    response.setHeader('Access-Control-Expose-Headers', responseHeaders);
    if (request.method === 'OPTIONS') {
      response.setHeader('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE');
      response.setHeader('Access-Control-Allow-Headers', requestHeaders);
      response.setHeader('Access-Control-Max-Age', preflightSeconds);
    }
    next();
  };
}

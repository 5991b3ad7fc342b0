import { randomFillSync, randomUUID } from 'node:crypto';
import { instantOf, makeId, Problem } from '@counterfoil/kernel';
import express, { type NextFunction, type Request, type Response } from 'express';
import { OwnedElsewhere } from '../decide/ownership.ts';
import type { Principal } from '../define/context.ts';
import { type Call, type CallSettings, carryOut } from './carry-out.ts';
import type { Endpoint } from './endpoint.ts';
import { Exchange, endpointOf, exchangeOf, principalOf } from './exchange.ts';
import { marksOf, problemFrom } from './handed-request.ts';
import type { HttpOptions, HttpSettings } from './host.ts';
import { parseJsonBody } from './json-body.ts';
import { createPassage } from './passage.ts';
import { givenRequestId, hasBody, ignoredNames, isJson } from './request-headers.ts';
import { rendered, sendResult } from './respond.ts';

/** A step of a request: does its part, or throws the `Problem` that is answered. */
export type Step = (request: Request, response: Response, next: NextFunction) => void;
/** A step that may have to wait. */
export type AsyncStep = (
  request: Request,
  response: Response,
  next: NextFunction,
) => Promise<void> | void;

const entropyBytes = 10;
const entropyPool = Buffer.alloc(entropyBytes * 400);
let entropyUsed = entropyPool.length;

/** Fresh random bytes, fetched many at a time: one call per request would be expensive. */
function entropy(): Uint8Array {
  if (entropyUsed === entropyPool.length) {
    randomFillSync(entropyPool);
    entropyUsed = 0;
  }
  entropyUsed += entropyBytes;
  return entropyPool.subarray(entropyUsed - entropyBytes, entropyUsed);
}

/** First of all: an id and an instant for the request, and the header that repeats the id. */
export const identify: Step = (request, response, next) => {
  const receivedAt = instantOf(Date.now());
  const given = givenRequestId(request.headers);
  const requestId = typeof given === 'string' ? given : makeId('req', receivedAt, entropy());
  response.locals.exchange = new Exchange(requestId, receivedAt);
  response.setHeader('X-Request-Id', requestId);
  response.setHeader('Cache-Control', 'no-store');
  if (given instanceof Problem) throw given;
  next();
};

/** First step of a route: from here on, logs and metrics know the route. */
export const arriveAt =
  (endpoint: Endpoint): Step =>
  (_request, response, next) => {
    const exchange = exchangeOf(response);
    exchange.endpoint = endpoint;
    exchange.label = endpoint.key;
    next();
  };

const maximumKeyLength = 512;

/** Identifies the caller by the `x-api-key` header. */
export const authenticate =
  (options: Pick<HttpOptions, 'authenticate'>): AsyncStep =>
  async (request, response, next) => {
    const apiKey = request.headers['x-api-key'];
    if (typeof apiKey !== 'string' || apiKey === '') {
      throw new Problem('unauthenticated', 'Send an API key in the x-api-key header.');
    }
    const principal = apiKey.length > maximumKeyLength ? null : await options.authenticate(apiKey);
    if (principal === null) {
      const message = 'The API key is unknown, expired or revoked. Send a valid one in x-api-key.';
      throw new Problem('unauthenticated', message);
    }
    exchangeOf(response).principal = principal;
    next();
  };

/** Throws a `Problem` unless the roles of the key give the right that the route requires. */
export function assertAllowed({ route }: Endpoint, { allows, roles }: Principal): void {
  const { permission } = route;
  if (permission === null || allows(permission)) return;
  throw new Problem(
    'permission_denied',
    `The roles of this API key do not give ${permission}. Use a key whose roles do.`,
    { details: { permission, roles } },
  );
}

/** Checks that the roles of the key give the right that the route requires. */
export const authorise: Step = (_request, response, next) => {
  const exchange = exchangeOf(response);
  assertAllowed(endpointOf(exchange), principalOf(exchange));
  next();
};

/** Refuses a body that is not JSON in UTF-8, before a byte of it is read. */
export const checkContentType: Step = (request, _response, next) => {
  if (!hasBody(request.headers) || isJson(request.headers['content-type'])) return next();
  throw new Problem(
    'unsupported_media_type',
    'Send the request body as JSON in UTF-8, with the header Content-Type: application/json.',
  );
};

/** Reads the body, inflated if need be, up to a limit in bytes. */
export const readBytes = (limit: number) => express.raw({ limit, type: () => true });

/** Turns the bytes into a JSON value. An empty body counts as none. */
export const readJson: Step = (request, response, next) => {
  const bytes: unknown = request.body;
  if (Buffer.isBuffer(bytes) && bytes.length > 0) {
    exchangeOf(response).body = parseJsonBody(bytes);
  }
  next();
};

/**
 * The last step: carries the request out and answers. One that is better carried out elsewhere is handed
 * over, and carried out here after all when no answer comes in time.
 */
export const answerWith = (settings: CallSettings & Pick<HttpSettings, 'elsewhere'>): AsyncStep => {
  const { elsewhere } = settings;
  const passage = elsewhere && createPassage(elsewhere);
  const answerHere = async (request: Request, response: Response, call: Call): Promise<void> => {
    const exchange = exchangeOf(response);
    const { endpoint, params } = call;
    const result = await carryOut(settings, call, (run) => {
      exchange.run = run;
      if (call.ignored.length > 0)
        response.setHeader('Counterfoil-Ignored', ignoredNames(call.ignored));
    });
    const { run } = exchange;
    if (run) await sendResult(request, response, endpoint, run, rendered(endpoint, params, result));
  };
  return async (request, response) => {
    const exchange = exchangeOf(response);
    const endpoint = endpointOf(exchange);
    const call: Call = {
      endpoint,
      params: exchange.parameters,
      url: request.url,
      headers: request.headers,
      body: exchange.body,
      ignored: [],
      caller: principalOf(exchange),
      requestId: exchange.requestId,
      receivedAt: exchange.receivedAt,
      mayGoElsewhere: passage !== undefined && endpoint.method !== 'GET',
      madeKey: null,
    };
    if (!passage || !call.mayGoElsewhere) return answerHere(request, response, call);
    let place = passage.placeOf(call);
    if (place === null) {
      try {
        return await answerHere(request, response, call);
      } catch (error) {
        if (!(error instanceof OwnedElsewhere)) throw error;
        place = error;
      }
    }
    const made = randomUUID();
    const bytes: unknown = request.body;
    const text = Buffer.isBuffer(bytes) && bytes.length > 0 ? bytes.toString('utf8') : null;
    const answer = await passage.handOver(place, call, text, made);
    if (answer === null) {
      // The other process may have carried it out: from here on the key remembers everything.
      const madeKey = { key: made, remembersRefusals: true };
      return answerHere(request, response, {
        ...call,
        ignored: [],
        mayGoElsewhere: false,
        madeKey,
      });
    }
    exchange.run = marksOf(answer);
    if (answer.kind === 'problem') throw problemFrom(answer);
    if (answer.ignored.length > 0)
      response.setHeader('Counterfoil-Ignored', ignoredNames(answer.ignored));
    await sendResult(request, response, endpoint, exchange.run, answer);
  };
};

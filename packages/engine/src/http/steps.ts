import { randomFillSync } from 'node:crypto';
import { instantOf, makeId, Problem } from '@counterfoil/kernel';
import express, { type NextFunction, type Request, type Response } from 'express';
import type { Endpoint } from './endpoint.ts';
import { Exchange, endpointOf, exchangeOf, principalOf } from './exchange.ts';
import { fieldsOf } from './fields.ts';
import type { HttpOptions, HttpSettings } from './host.ts';
import { parseJsonBody } from './json-body.ts';
import { invalidRequest, type Names, queryOf, refuseFaultyTexts } from './parse.ts';
import {
  givenRequestId,
  hasBody,
  idempotencyKeyOf,
  ifMatchOf,
  ignoredNames,
  isJson,
  minimumPositionOf,
  prefersLenient,
} from './request-headers.ts';
import { sendResult } from './respond.ts';

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

/** Checks that the roles of the key give the right that the route requires. */
export const authorise: Step = (_request, response, next) => {
  const exchange = exchangeOf(response);
  const { permission } = endpointOf(exchange).route;
  const principal = principalOf(exchange);
  if (permission === null || principal.allows(permission)) return next();
  throw new Problem(
    'permission_denied',
    `The roles of this API key do not give ${permission}. Use a key whose roles do.`,
    { details: { permission, roles: principal.roles } },
  );
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

function parseBody(endpoint: Endpoint, body: unknown, names: Names): unknown {
  const { route } = endpoint;
  if (route.body === undefined) {
    if (body !== undefined) endpoint.parseBody(body, names);
    return undefined;
  }
  if (body !== undefined) return endpoint.parseBody(body, names);
  if (route.bodyOptional) return endpoint.parseBody({}, names);
  const message = 'a JSON body is required';
  throw invalidRequest([{ pointer: '', message }], 'body');
}

function parseParams(
  endpoint: Endpoint,
  params: Readonly<Record<string, string>>,
  names: Names,
): unknown {
  if (endpoint.placeholders.length === 0) return {};
  refuseFaultyTexts(params, 'path');
  return endpoint.parseParams === null ? params : endpoint.parseParams({ ...params }, names);
}

/** The last step: parses the remaining parts, runs the handler and answers. */
export const answerWith =
  ({ host, unknownNames }: Pick<HttpSettings, 'host' | 'unknownNames'>): AsyncStep =>
  async (request, response) => {
    const exchange = exchangeOf(response);
    const endpoint = endpointOf(exchange);
    const given = request.params as Readonly<Record<string, string>>;
    const { headers } = request;
    const { ignored } = exchange;
    const names = { isLenient: unknownNames === 'ignore' || prefersLenient(headers), ignored };
    const params = parseParams(endpoint, given, names);
    const query = endpoint.parseQuery(queryOf(request.url), names);
    const body = parseBody(endpoint, exchange.body, names);
    if (ignored.length > 0) response.setHeader('Counterfoil-Ignored', ignoredNames(ignored));
    const run = host.begin({
      principal: principalOf(exchange),
      requestId: exchange.requestId,
      receivedAt: exchange.receivedAt,
      route: endpoint.key,
      operation: endpoint.operation(given),
      idempotencyKey: endpoint.method === 'POST' ? idempotencyKeyOf(headers, body) : null,
      fields: fieldsOf({ params, query, body }),
      ifMatch: endpoint.method === 'GET' ? null : ifMatchOf(headers),
      minimumPosition: minimumPositionOf(headers),
    });
    exchange.run = run;
    const result: unknown = await endpoint.route.handle(run.context, { params, query, body });
    await sendResult(request, response, endpoint, run, result);
  };

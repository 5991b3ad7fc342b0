import { randomFillSync, randomUUID } from 'node:crypto';
import { instantOf, makeId, Problem } from '@counterfoil/kernel';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { OwnedElsewhere } from '../decide/ownership.ts';
import type { Principal } from '../define/context.ts';
import type { BodyStream } from '../define/route.ts';
import { type Call, type CallSettings, carryOut, type Parts, partsOf } from './carry-out.ts';
import type { Endpoint } from './endpoint.ts';
import { Exchange, endpointOf, exchangeOf, principalOf } from './exchange.ts';
import { marksOf, problemFrom } from './handed-request.ts';
import type { HttpOptions, HttpSettings } from './host.ts';
import { parseJsonBody } from './json-body.ts';
import { createPassage } from './passage.ts';
import { readBody, streamedBody } from './read-body.ts';
import { givenRequestId, hasBody, ignoredNames, isJson } from './request-headers.ts';
import { rendered, sendResult } from './respond.ts';
import type { Turns } from './turns.ts';

/** A step of a request: does its part, or throws the `Problem` that is answered. */
export type Step = (request: Request, response: Response, next: NextFunction) => void;
/** A step that may have to wait. */
export type AsyncStep = (
  request: Request,
  response: Response,
  next: NextFunction,
) => Promise<void> | void;

/** One handler that takes steps in their order, each when the one before it is done; a failure ends them. */
export const inOrder =
  (steps: readonly AsyncStep[]): RequestHandler =>
  (request, response, done) => {
    let taken = 0;
    const next = (failure?: unknown): void => {
      const step = steps[taken];
      if (failure !== undefined || step === undefined) {
        done(failure);
        return;
      }
      taken += 1;
      try {
        step(request, response, next)?.catch(done);
      } catch (thrown) {
        done(thrown);
      }
    };
    next();
  };

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

/** Refuses a body of none of the media types that a route takes as they arrive. */
export const checkStreamType =
  (types: readonly string[]): Step =>
  (request, _response, next) => {
    const [type = ''] = (request.headers['content-type'] ?? '').split(';');
    if (!hasBody(request.headers) || types.includes(type.trim().toLowerCase())) return next();
    const known = types.join(' or ');
    throw new Problem('unsupported_media_type', `Send the file with the Content-Type ${known}.`);
  };

/** Reads the body, inflated if need be, up to a limit in bytes. */
export const readBytes =
  (limit: number): Step =>
  (request, response, next) => {
    if (!hasBody(request.headers)) return next();
    readBody(request, limit, (outcome) => {
      if (outcome instanceof Problem) return next(outcome);
      exchangeOf(response).bytes = outcome;
      next();
    });
  };

/** Tells whether a request still waits for its answer: its time may have ended, or its caller gone away. */
export const isOpen = (response: Response): boolean => !response.headersSent && !response.destroyed;

/** Turns the bytes into a JSON value, a large body in pieces. An empty body counts as none. */
export const readJson =
  (turns: Turns): Step =>
  (_request, response, next) => {
    const exchange = exchangeOf(response);
    const bytes = exchange.bytes?.bytes;
    if (bytes === undefined || bytes.length === 0) return next();
    turns.goOn({
      tenant: principalOf(exchange).tenantId,
      pieces: parseJsonBody(bytes, endpointOf(exchange).bodyContents),
      isWanted: () => isOpen(response),
      done: (value) => {
        exchange.body = value;
        next();
      },
      failed: next,
    });
  };

type AnswerOptions = CallSettings & Pick<HttpSettings, 'elsewhere'> & { readonly turns: Turns };

/**
 * The last step: checks the parts of the request, carries it out and answers. One that is better carried out
 * elsewhere is handed over, and carried out here after all when no answer comes in time.
 */
export const answerWith = (options: AnswerOptions): AsyncStep => {
  const { elsewhere, turns } = options;
  const passage = elsewhere && createPassage(elsewhere);

  async function answer(
    request: Request,
    response: Response,
    call: Call,
    parts: Parts,
  ): Promise<void> {
    const exchange = exchangeOf(response);
    const { endpoint, params } = call;
    const result = await carryOut(options, call, parts, (run) => {
      exchange.run = run;
      tellIgnored(response, parts.ignored);
    });
    const { run } = exchange;
    if (run) await sendResult(request, response, endpoint, run, rendered(endpoint, params, result));
  }

  const answerHere = (request: Request, response: Response, call: Call): Promise<void> =>
    new Promise((resolve, reject) => {
      turns.goOn({
        tenant: call.caller.tenantId,
        pieces: partsOf(call, options),
        isWanted: () => isOpen(response),
        done: (parts) => answer(request, response, call, parts).then(resolve, reject),
        failed: reject,
      });
    });

  return async (request, response) => {
    const exchange = exchangeOf(response);
    const endpoint = endpointOf(exchange);
    const call: Call = {
      endpoint,
      params: exchange.parameters,
      url: request.url,
      headers: request.headers,
      body: exchange.body,
      caller: principalOf(exchange),
      requestId: exchange.requestId,
      receivedAt: exchange.receivedAt,
      mayGoElsewhere: passage !== undefined && endpoint.method !== 'GET' && !endpoint.route.streams,
      madeKey: null,
      ...(endpoint.route.streams && hasBody(request.headers)
        ? { stream: streamOf(request, endpoint, exchange) }
        : {}),
    };
    if (!passage || !call.mayGoElsewhere) return answerHere(request, response, call);
    let place = passage.placeOf(call);
    if (place === null) {
      try {
        return await answerHere(request, response, call);
      } catch (error) {
        if (!(error instanceof OwnedElsewhere)) throw error;
        // Nothing has been written yet, and nobody waits: the body is no longer there to be handed over.
        if (!isOpen(response)) return;
        place = error;
      }
    }
    const key = randomUUID();
    const text = exchange.bytes?.bytes.toString('utf8') || null;
    const { startedAt } = exchange;
    const answered = await passage.handOver(place, call, { text, key, startedAt });
    if (answered === null) {
      // The other process may have carried it out: from here on the key remembers everything.
      const madeKey = { key, remembersRefusals: true };
      return answerHere(request, response, { ...call, mayGoElsewhere: false, madeKey });
    }
    exchange.run = marksOf(answered);
    if (answered.kind === 'problem') throw problemFrom(answered);
    tellIgnored(response, answered.ignored);
    await sendResult(request, response, endpoint, exchange.run, answered);
  };
};

/** The body of a request as it arrives. Its time counts from the last piece: the whole has that of a connection. */
const streamOf = (
  request: Request,
  { bodyLimitBytes }: Endpoint,
  { deadline }: Exchange,
): BodyStream => streamedBody(request, bodyLimitBytes, () => deadline?.refresh());

function tellIgnored(response: Response, pointers: readonly string[]): void {
  if (pointers.length > 0) response.setHeader('Counterfoil-Ignored', ignoredNames(pointers));
}

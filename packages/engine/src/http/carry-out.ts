import type { IncomingHttpHeaders } from 'node:http';
import type { Instant } from '@counterfoil/kernel';
import type { Principal } from '../define/context.ts';
import type { BodyStream } from '../define/route.ts';
import type { Endpoint } from './endpoint.ts';
import { fieldsOf } from './fields.ts';
import type { MadeKey } from './handed-request.ts';
import type { HttpSettings, RequestRun } from './host.ts';
import { invalidRequest, type Names, queryOf, refuseFaultyTexts } from './parse.ts';
import type { Pieces } from './pieces.ts';
import {
  idempotencyKeyOf,
  ifMatchOf,
  minimumPositionOf,
  prefersLenient,
} from './request-headers.ts';

/** A request at its endpoint, after every check of access: it came to this process, or was handed over. */
export interface Call {
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string>>;
  /** The path with the query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON of the body; undefined when there is none. */
  readonly body: unknown;
  /** The bytes of a body that is no JSON, for a route that takes it as it arrives. */
  readonly stream?: BodyStream;
  readonly caller: Principal;
  readonly requestId: string;
  readonly receivedAt: Instant;
  readonly mayGoElsewhere: boolean;
  readonly madeKey: MadeKey | null;
}

export type CallSettings = Pick<HttpSettings, 'host' | 'unknownNames'>;

/** The checked parts of a request. */
export interface Parts {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  /** JSON pointers to members of the request that have no effect (D6), the first of them. */
  readonly ignored: readonly string[];
}

function* bodyOf(endpoint: Endpoint, body: unknown, names: Names): Pieces<unknown> {
  const { route } = endpoint;
  if (route.body === undefined) {
    if (body !== undefined) yield* endpoint.parseBody(body, names);
    return undefined;
  }
  if (body !== undefined) return yield* endpoint.parseBody(body, names);
  if (route.bodyOptional) return yield* endpoint.parseBody({}, names);
  const message = 'a JSON body is required';
  throw invalidRequest([{ pointer: '', message }], 'body');
}

function* paramsOf({ endpoint, params }: Call, names: Names): Pieces<unknown> {
  if (endpoint.placeholders.length === 0) return {};
  refuseFaultyTexts(params, 'path');
  return endpoint.parseParams === null ? params : yield* endpoint.parseParams({ ...params }, names);
}

/** Checks the parts of a request, and leaves out what has no effect. Throws a 400 `Problem`. */
export function* partsOf(call: Call, { unknownNames }: CallSettings): Pieces<Parts> {
  const { endpoint, headers } = call;
  const ignored: string[] = [];
  const names = { isLenient: unknownNames === 'ignore' || prefersLenient(headers), ignored };
  const params = yield* paramsOf(call, names);
  const query = yield* endpoint.parseQuery(queryOf(call.url), names);
  const body = yield* bodyOf(endpoint, call.body, names);
  return { params, query, body, ignored };
}

/**
 * Runs the handler of a request and returns what that returns. `onBegin` is told before, so that failures are
 * answered with what the run has come to.
 */
export async function carryOut(
  { host }: CallSettings,
  call: Call,
  { params, query, body }: Parts,
  onBegin: (run: RequestRun) => void,
): Promise<unknown> {
  const { endpoint, headers, stream } = call;
  const run = host.begin({
    principal: call.caller,
    requestId: call.requestId,
    receivedAt: call.receivedAt,
    route: endpoint.key,
    operation: endpoint.operation(call.params),
    idempotencyKey:
      endpoint.method === 'POST' ? idempotencyKeyOf(headers, body, endpoint.route.keyField) : null,
    fields: fieldsOf({ params, query, body }),
    ifMatch: endpoint.method === 'GET' ? null : ifMatchOf(headers),
    minimumPosition: minimumPositionOf(headers),
    mayGoElsewhere: call.mayGoElsewhere,
    madeKey: call.madeKey,
  });
  onBegin(run);
  const input = { params, query, body, ...(stream && { stream }) };
  return endpoint.route.handle(run.context, input);
}

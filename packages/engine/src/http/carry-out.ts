import type { IncomingHttpHeaders } from 'node:http';
import type { Instant } from '@counterfoil/kernel';
import type { Principal } from '../define/context.ts';
import type { Endpoint } from './endpoint.ts';
import { fieldsOf } from './fields.ts';
import type { MadeKey } from './handed-request.ts';
import type { HttpSettings, RequestRun } from './host.ts';
import { invalidRequest, type Names, queryOf, refuseFaultyTexts } from './parse.ts';
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
  /** Takes JSON pointers to members of the request that have no effect (D6). */
  readonly ignored: string[];
  readonly caller: Principal;
  readonly requestId: string;
  readonly receivedAt: Instant;
  readonly mayGoElsewhere: boolean;
  readonly madeKey: MadeKey | null;
}

export type CallSettings = Pick<HttpSettings, 'host' | 'unknownNames'>;

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

/**
 * Parses the parts of a request, runs its handler and returns what that returns. `onBegin` is told before,
 * so that failures are answered with what the run has come to.
 */
export async function carryOut(
  { host, unknownNames }: CallSettings,
  call: Call,
  onBegin: (run: RequestRun) => void,
): Promise<unknown> {
  const { endpoint, headers, ignored } = call;
  const names = { isLenient: unknownNames === 'ignore' || prefersLenient(headers), ignored };
  const params = parseParams(endpoint, call.params, names);
  const query = endpoint.parseQuery(queryOf(call.url), names);
  const body = parseBody(endpoint, call.body, names);
  const run = host.begin({
    principal: call.caller,
    requestId: call.requestId,
    receivedAt: call.receivedAt,
    route: endpoint.key,
    operation: endpoint.operation(call.params),
    idempotencyKey: endpoint.method === 'POST' ? idempotencyKeyOf(headers, body) : null,
    fields: fieldsOf({ params, query, body }),
    ifMatch: endpoint.method === 'GET' ? null : ifMatchOf(headers),
    minimumPosition: minimumPositionOf(headers),
    mayGoElsewhere: call.mayGoElsewhere,
    madeKey: call.madeKey,
  });
  onBegin(run);
  return endpoint.route.handle(run.context, { params, query, body });
}

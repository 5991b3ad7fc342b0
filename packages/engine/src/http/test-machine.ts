import type { EnvironmentId, KeyId, TenantId, UserId } from '@counterfoil/kernel';
import { z } from 'zod';
import type { Principal } from '../define/context.ts';
import type { RequestContext } from '../define/request-context.ts';
import { type Routes, route, withETag } from '../define/route.ts';
import { createLog } from '../operations/log.ts';
import { createMetrics } from '../operations/metrics.ts';
import type { BeginRequest, HttpOptions, HttpServer, RequestRun } from './host.ts';
import type { ProblemBody } from './problem-body.ts';
import { createHttpServer } from './server.ts';

/** A caller whose key is `sk_<name>`, with rights that end in one of the suffixes. */
export const caller = (name: string, ...suffixes: string[]): Principal => ({
  tenantId: 'tenant_1' as TenantId,
  environmentId: 'env_1' as EnvironmentId,
  userId: 'user_1' as UserId,
  keyId: `secret_${name}` as KeyId,
  roles: [name],
  allows: (permission) => suffixes.some((suffix) => permission.endsWith(suffix)),
});

const callers = new Map([
  ['sk_writer', caller('writer', ':read', ':write')],
  ['sk_reader', caller('reader', ':read')],
]);

/** Keys that each name a tenant and, after a dot, a key of it. */
export const keysOfTenants = {
  authenticate: (key: string) => ({
    ...caller(key, ':read', ':write'),
    tenantId: key.split('.')[0] as TenantId,
  }),
};

const thingSchema = z.object({
  id: z.string(),
  name: z.string(),
  count: z.number().int().optional(),
});

const createThingSchema = z.object({
  name: z.string().min(1).max(20),
  count: z.number().int().optional(),
  labels: z.record(z.string().max(8), z.string()).optional(),
  parts: z.array(z.object({ 'a/b': z.string() })).optional(),
  idempotency_key: z.string().optional(),
});

const params = z.object({ id: z.string().max(64) });
const common = { tag: 'things', summary: 'A thing', permission: 'thing:write' } as const;

/** Routes of every kind, for the tests. */
export const thingRoutes: Routes = {
  'GET /things': route({
    ...common,
    permission: 'thing:read',
    status: 200,
    query: z.object({
      limit: z.coerce.number().int().min(1).max(1000).default(50),
      tag: z.union([z.string(), z.array(z.string())]).optional(),
    }),
    response: z.object({ limit: z.number(), tag: z.unknown().optional() }),
    handle: async (_context, { query }) => query,
  }),
  'POST /things': route({
    ...common,
    status: 201,
    body: createThingSchema,
    response: thingSchema,
    handle: async (_context, { body }) => ({ id: 'thing_1', name: body.name, count: body.count }),
  }),
  'GET /things/usage': route({
    ...common,
    permission: null,
    status: 200,
    response: z.object({ used: z.number() }),
    handle: async () => ({ used: 3 }),
  }),
  'GET /things/{id}': route({
    ...common,
    permission: 'thing:read',
    status: 200,
    params,
    response: thingSchema,
    handle: async (_context, input) => withETag({ id: input.params.id, name: 'Thing' }, 5),
  }),
  'PUT /things/{id}': route({
    ...common,
    status: 200,
    params,
    body: createThingSchema,
    response: thingSchema,
    handle: async (_context, input) => withETag({ id: input.params.id, name: input.body.name }, 6),
  }),
  'DELETE /things/{id}': route({
    ...common,
    status: 204,
    params,
    handle: async () => undefined,
  }),
  'POST /things/{id}/poke': route({
    ...common,
    status: 202,
    params,
    body: z.object({ hard: z.boolean().default(false) }),
    bodyOptional: true,
    response: z.object({ hard: z.boolean() }),
    handle: async (_context, { body }) => body,
  }),
};

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; throws when it is not JSON. */
  json<Body = Record<string, unknown>>(): Body;
  /** The body of a failure. */
  problem(): ProblemBody;
}

interface RequestOptions {
  /** Sent as JSON; a string or buffer is sent as it is, with the same content type. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** API key; null sends none. */
  readonly key?: string | null;
}

export interface Machine {
  readonly server: HttpServer;
  readonly port: number;
  readonly url: string;
  /** The requests that the host was asked to begin, in order. */
  readonly begun: BeginRequest[];
  /** The figures that every run reports; a test changes them to see the headers change. */
  readonly outcome: { -readonly [Key in keyof Omit<RequestRun, 'context'>]: RequestRun[Key] };
  /** Lines of the log. */
  readonly lines: Record<string, unknown>[];
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
}

const bodyOf = (body: unknown): string | Uint8Array<ArrayBuffer> =>
  typeof body === 'string'
    ? body
    : Buffer.isBuffer(body)
      ? new Uint8Array(body)
      : JSON.stringify(body);

async function send(
  url: string,
  method: string,
  { body, headers, key = 'sk_writer' }: RequestOptions = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(key !== null && { 'x-api-key': key }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    redirect: 'manual',
    ...(body !== undefined && { body: bodyOf(body) }),
  });
  const text = await response.text();
  const json = <Body>(): Body => JSON.parse(text) as Body;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json,
    problem: () => json<ProblemBody>(),
  };
}

/** Starts a machine on a free port of the loopback interface. Close its server at the end. */
export async function startMachine(
  routes: Routes = thingRoutes,
  options: Partial<HttpOptions> = {},
): Promise<Machine> {
  const begun: BeginRequest[] = [];
  const lines: Record<string, unknown>[] = [];
  const outcome: Machine['outcome'] = { position: null, replayed: false, lagMilliseconds: null };
  const log = createLog({
    level: 'debug',
    name: 'test',
    destination: { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const server = createHttpServer({
    modules: [{ name: 'things', aggregates: [], tables: [], routes, publicEvents: [] }],
    host: {
      begin: (request) => {
        begun.push(request);
        // The tests use nothing of the context.
        return { context: {} as RequestContext, ...outcome };
      },
    },
    authenticate: (key) => callers.get(key) ?? null,
    health: [],
    metrics: createMetrics({ processMetrics: false }),
    log,
    info: { title: 'Things', version: '1.0.0', description: 'Things for tests' },
    validateResponses: true,
    ...options,
  });
  const { port } = await server.listen(0, '127.0.0.1');
  const url = `http://127.0.0.1:${port}`;
  const request: Machine['request'] = (method, path, requestOptions) =>
    send(url + path, method, requestOptions);
  return { server, port, url, begun, outcome, lines, request };
}

/** A route with the handler of a test. */
export const routeThat = (handle: () => Promise<unknown>): Routes => ({
  'POST /acts': route({
    tag: 'acts',
    summary: 'Acts',
    status: 200,
    permission: null,
    body: z.object({}),
    bodyOptional: true,
    response: z.unknown(),
    handle: async () => handle(),
  }),
});

/** A route whose handler waits until the test releases it. */
export function waitingRoute() {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const routes = routeThat(async () => {
    started.resolve();
    await release.promise;
    return {};
  });
  return { routes, started, release };
}

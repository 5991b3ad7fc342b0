import { type AnyRoute, type Principal, WithETag } from '@counterfoil/engine/define';
import {
  type EnvironmentId,
  instantOf,
  type KeyId,
  millisecondsOf,
  Problem,
  type TenantId,
  type UserId,
} from '@counterfoil/kernel';
import { RecentWrites } from '../../../engine/src/decide/read-your-writes.ts';
import { RequestRunner } from '../../../engine/src/decide/request-run.ts';
import { createStreams, type StreamsOptions } from '../../../engine/src/decide/streams.ts';
import { workContext } from '../../../engine/src/decide/work-context.ts';
import { fieldsOf } from '../../../engine/src/http/fields.ts';
import { problemBody } from '../../../engine/src/http/problem-body.ts';
import { customers } from '../../../modules/src/customers/index.ts';
import { wallets } from '../../../modules/src/wallets/index.ts';
import { memoryWorld } from '../memory-world.ts';
import type { LedgerClient, LedgerRequest } from './client.ts';
import type { LedgerAnswer } from './exchange.ts';
import { type Data, historyOf } from './history.ts';
import { memoryTestClock } from './memory-clock.ts';

/** A service in this process: the real routes and stream writers on a log in memory. */
export interface MemoryClient extends LedgerClient {
  readonly store: ReturnType<typeof memoryWorld>['store'];
  /** Forgets everything that is not in the log, as a restart does. */
  restart(): void;
}

/** Shared, because it is large and nothing in memory depends on it. */
const recentWrites = new RecentWrites();
/** A world has a handful of streams. */
const idleStreams = 64;

const start = Date.parse('2026-01-01T00:00:00.000Z');

const principal: Principal = {
  tenantId: 'tenant_01' as TenantId,
  environmentId: 'env_01' as EnvironmentId,
  userId: 'user_01' as UserId,
  keyId: 'secret_01' as KeyId,
  roles: ['super_admin'],
  allows: () => true,
};

/** The caller in memory, with its tenant and environment. */
export const memoryPrincipal = principal;

const slices = [customers, wallets];
const dueWork = slices.flatMap((slice) => slice.dueWork ?? []);
const aggregates = slices.flatMap((slice) => slice.aggregates);
const routes: Readonly<Record<string, AnyRoute>> = Object.assign(
  {},
  ...slices.map((slice) => slice.routes),
);

/** A service in memory, where it is not as usual. */
export interface MemoryOptions {
  /** Puts something between it and its log. */
  readonly wrap?: (store: MemoryClient['store']) => StreamsOptions['store'];
  /** A test clock runs what falls due while it moves; the system's time leaves that to `settle`, which may be late. */
  readonly clock?: 'test' | 'system';
}

/** Starts a service in memory. */
export function memoryClient({
  wrap = (store) => store,
  clock: kind = 'system',
}: MemoryOptions = {}): MemoryClient {
  const world = memoryWorld(aggregates);
  let time = start;
  const now = () => time;
  const open = () => createStreams({ store: wrap(world.store), aggregates, now, idleStreams });
  let streams = open();
  const clock = memoryTestClock({
    store: world.store,
    streams: () => streams,
    work: dueWork,
    owner: principal,
    now: () => instantOf(time),
    moveTo: (instant) => {
      time = millisecondsOf(instant);
    },
  });
  const run = (request: LedgerRequest, body: unknown, params: unknown) => {
    const arrivedAt = instantOf(request.arrivedAt ?? time);
    const operation = `${request.route.split(' ')[0]} ${request.path}`;
    return new RequestRunner(
      {
        streams: { ...streams, clock: { now: () => arrivedAt } },
        readSide: {
          reader: () => world.request(principal).read,
          projected: { position: () => 0n, waitFor: () => Promise.resolve(true) },
        },
        recentWrites,
        now,
      },
      {
        principal,
        requestId: request.requestId,
        receivedAt: arrivedAt,
        route: request.route as 'GET /',
        operation,
        idempotencyKey: operation.startsWith('POST') ? request.key : null,
        fields: fieldsOf({ params, query: {}, body }),
        ifMatch: null,
        minimumPosition: null,
      },
    );
  };
  return {
    store: world.store,
    now,
    nowAtMost: now,
    pass: async (milliseconds) => {
      if (kind === 'test') await clock.pass(milliseconds);
      else time += milliseconds;
    },
    restart: () => {
      streams = open();
    },
    history: (walletId) => historyOf(world.store.readStream(streamOf(walletId))),
    debits: (customerId, currency) => {
      const stream = `customer_debits-${principal.environmentId}.${customerId}_${currency}`;
      return historyOf(world.store.readStream(stream));
    },
    settle: async (walletId) => {
      const { tenantId, environmentId } = principal;
      const scope = { tenantId, environmentId, correlationId: 'due' };
      for (const { run: work } of dueWork) await work(workContext(streams, scope), walletId);
    },
    send: (request) => answered(request, run),
    read: async (walletId, path, query = readQuery(path)) => {
      const route = `GET /wallets/{id}${path}`;
      const params = { id: walletId };
      const request = { route, path, params, body: undefined, requestId: 'read', key: null };
      return (await answered(request, run, query)).body as Data;
    },
  };
}

/** The query of a read: all there is, in one page. */
export const readQuery = (path: string): Readonly<Record<string, string>> =>
  ['/transactions', '/holds'].includes(path) ? { limit: '1000', order: 'asc' } : {};

const streamOf = (walletId: string): string => `wallet-${principal.environmentId}.${walletId}`;

/** Runs a request through the schemas and the handler of its route, and words the answer. */
async function answered(
  request: LedgerRequest,
  run: (request: LedgerRequest, body: unknown, params: unknown) => RequestRunner,
  given: Readonly<Record<string, string>> = {},
): Promise<LedgerAnswer> {
  const route = routes[request.route];
  if (!route) throw new Error(`there is no ${request.route}`);
  const body = route.body?.safeParse(request.body ?? {});
  if (body && !body.success) return wrongForm(body.error.issues);
  const params = route.params?.parse(request.params);
  const runner = run(request, body?.data, params);
  try {
    const query = route.query?.parse(given);
    const result: unknown = await route.handle(runner.context, { params, query, body: body?.data });
    const plain = result instanceof WithETag ? result.body : result;
    route.response?.parse(plain);
    return {
      status: route.status,
      body: JSON.parse(JSON.stringify(plain)),
      isReplay: runner.replayed,
    };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const wire: unknown = JSON.parse(JSON.stringify(problemBody(error, request.requestId)));
    return { status: error.status, body: wire, isReplay: runner.replayed };
  }
}

const wrongForm = (issues: readonly { readonly path: readonly PropertyKey[] }[]): LedgerAnswer => ({
  status: 400,
  isReplay: false,
  body: {
    code: 'validation_error',
    errors: issues.map(({ path }) => ({ pointer: `/${path.join('/')}` })),
  },
});

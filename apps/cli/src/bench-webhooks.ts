import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { type Demo, OperatorError } from './settings.ts';
import { verifyWebhook } from './webhooks/verify-webhook.ts';

/** How much load. The defaults are what the design promises figures for. */
export interface WebhookBenchOptions {
  /** Events per second of the first part, and for how many seconds. */
  readonly perSecond: number;
  readonly steadySeconds: number;
  /** Endpoints that never answer, beside the one that is measured. */
  readonly hanging: number;
  /** Events and endpoints of the second part: all of their product is to be delivered. */
  readonly backlogEvents: number;
  readonly backlogEndpoints: number;
  /** Events beside those of the other parts, from which the public stream is then filled again. */
  readonly catchUpEvents: number;
}

export const webhookBenchDefaults: WebhookBenchOptions = {
  perSecond: 300,
  steadySeconds: 20,
  hanging: 0,
  backlogEvents: 1_000,
  backlogEndpoints: 20,
  catchUpEvents: 20_000,
};

/** What was seen by the receivers, which verified every signature. Times in milliseconds. */
export interface WebhookFigures {
  /** From the event (its time in the log) to the receipt, at a steady rate. */
  readonly latency: {
    readonly p50: number;
    readonly p95: number;
    readonly p99: number;
    readonly maximum: number;
    readonly events: number;
  };
  /** One worker at a backlog: from the first receipt to the last. */
  readonly drain: { readonly deliveriesPerSecond: number; readonly deliveries: number };
  /** Requests beyond one for each delivery. */
  readonly duplicates: number;
}

const customers = 200;
const clients = 32;
const drainMs = 120_000;

/**
 * Measures webhooks of a running installation with one worker, from a receiver of its own on
 * loopback. Throws an `OperatorError` when a delivery is missing, out of order or not genuine.
 */
export async function benchWebhooks(
  demo: Demo,
  given: Partial<WebhookBenchOptions> = {},
): Promise<WebhookFigures> {
  const options = { ...webhookBenchDefaults, ...given };
  const receiver = await startReceiver();
  const api = createApi(demo);
  try {
    const latency = await measureLatency(api, receiver, options);
    const drain = await measureDrain(api, receiver, options);
    await makeHistory(api, options.catchUpEvents);
    return { latency, drain, duplicates: receiver.duplicates() };
  } finally {
    await api.close();
    receiver.close();
  }
}

/** Steady updates of customers, each about one of many resources. */
async function measureLatency(
  api: Api,
  receiver: Receiver,
  { perSecond, steadySeconds, hanging }: WebhookBenchOptions,
): Promise<WebhookFigures['latency']> {
  const ids = await makeCustomers(api, customers, 'steady');
  const endpoint = await api.makeEndpoint(receiver.urlOf('steady'), 64);
  const silent = await Promise.all(
    Array.from({ length: hanging }, () => api.makeEndpoint(receiver.silentUrl, 8)),
  );
  receiver.know('steady', endpoint.secret);
  const events = perSecond * steadySeconds;
  const startedAt = performance.now();
  await inParallel(events, async (index) => {
    const dueAt = startedAt + (index * 1_000) / perSecond;
    await pause(Math.max(0, dueAt - performance.now()));
    const id = ids[index % ids.length];
    await api.call('PUT', `/customers?id=${id}`, { metadata: { n: String(index) } });
  });
  await receiver.untilReceived('steady', events);
  for (const { id } of [endpoint, ...silent]) await api.call('DELETE', `/webhooks/endpoints/${id}`);
  const times = receiver.latencies('steady').toSorted((left, right) => left - right);
  const share = (part: number): number => times[Math.floor((times.length - 1) * part)] ?? 0;
  return { p50: share(0.5), p95: share(0.95), p99: share(0.99), maximum: share(1), events };
}

/** Many events at once for many endpoints: the worker has all it can do. */
async function measureDrain(
  api: Api,
  receiver: Receiver,
  { backlogEvents, backlogEndpoints }: WebhookBenchOptions,
): Promise<WebhookFigures['drain']> {
  const names = Array.from({ length: backlogEndpoints }, (_, index) => `backlog-${index}`);
  const endpoints = await Promise.all(
    names.map((name) => api.makeEndpoint(receiver.urlOf(name), 16)),
  );
  names.forEach((name, index) => {
    receiver.know(name, endpoints[index]?.secret ?? '');
  });
  await makeCustomers(api, backlogEvents, 'backlog');
  for (const name of names) await receiver.untilReceived(name, backlogEvents);
  for (const { id } of endpoints) await api.call('DELETE', `/webhooks/endpoints/${id}`);
  const deliveries = backlogEvents * backlogEndpoints;
  const seconds = receiver.secondsBetween(names);
  return { deliveries, deliveriesPerSecond: Math.round(deliveries / seconds) };
}

/** Updates that no endpoint is told of. */
async function makeHistory(api: Api, events: number): Promise<void> {
  if (events === 0) return;
  const ids = await makeCustomers(api, customers, 'history');
  await inParallel(events, async (index) => {
    const id = ids[index % ids.length];
    await api.call('PUT', `/customers?id=${id}`, { metadata: { n: String(index) } });
  });
}

/** Runs work for the numbers from 0 on, in order, by so many clients. */
async function inParallel(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: clients }, client));
}

async function makeCustomers(api: Api, count: number, prefix: string): Promise<readonly string[]> {
  const ids: string[] = [];
  await inParallel(count, async (index) => {
    const external_id = `${prefix}-${Date.now()}-${index}`;
    const { id } = await api.call<{ id: string }>('POST', '/customers', {
      external_id,
      name: external_id,
    });
    ids.push(id);
  });
  return ids;
}

interface Endpoint {
  readonly id: string;
  readonly secret: string;
}

interface Api {
  call<Body>(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<Body>;
  /** An endpoint for customers, with so many requests at once. Its events begin with the next. */
  makeEndpoint(url: string, inFlight: number): Promise<Endpoint>;
  close(): Promise<void>;
}

function createApi({ base_url, api_key }: Demo): Api {
  const pool = new Pool(base_url, { connections: clients });
  const headers = { 'x-api-key': api_key, 'content-type': 'application/json' };
  const call = async <Body>(
    method: 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<Body> => {
    const answer = await pool.request({
      method,
      path: `/v1${path}`,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode < 300) return (text === '' ? null : JSON.parse(text)) as Body;
    throw new OperatorError(`${method} ${path} was answered ${answer.statusCode}: ${text}`);
  };
  return {
    call,
    makeEndpoint: (url, max_in_flight) =>
      call('POST', '/webhooks/endpoints', { url, max_in_flight, event_types: ['customer.*'] }),
    close: () => pool.close(),
  };
}

/** What came to one endpoint. */
interface Inbox {
  readonly secret: string;
  readonly ids: Set<string>;
  /** The latest id of each resource. */
  readonly latest: Map<string, string>;
  readonly latencies: number[];
  requests: number;
  firstAt: number;
  lastAt: number;
}

interface Receiver {
  urlOf(name: string): string;
  /** Where nobody ever answers. */
  readonly silentUrl: string;
  know(name: string, secret: string): void;
  untilReceived(name: string, count: number): Promise<void>;
  latencies(name: string): readonly number[];
  secondsBetween(names: readonly string[]): number;
  duplicates(): number;
  close(): void;
}

async function startReceiver(): Promise<Receiver> {
  const inboxes = new Map<string, Inbox>();
  const faults: string[] = [];
  const server = createServer((request, response) => {
    const name = request.url?.slice(1) ?? '';
    if (name !== 'silent') receive(request, response, inboxes.get(name), faults);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const all = () => [...inboxes.values()];
  return {
    urlOf: (name) => `${base}/${name}`,
    silentUrl: `${base}/silent`,
    know: (name, secret) => {
      inboxes.set(name, {
        secret,
        ids: new Set(),
        latest: new Map(),
        latencies: [],
        requests: 0,
        firstAt: Number.POSITIVE_INFINITY,
        lastAt: 0,
      });
    },
    untilReceived: async (name, count) => {
      const deadline = performance.now() + drainMs;
      while ((inboxes.get(name)?.ids.size ?? 0) < count) {
        if (faults[0] !== undefined) throw new OperatorError(faults[0]);
        if (performance.now() > deadline) {
          throw new OperatorError(`${name}: ${inboxes.get(name)?.ids.size} of ${count} came`);
        }
        await pause(10);
      }
    },
    latencies: (name) => inboxes.get(name)?.latencies ?? [],
    secondsBetween: (names) => {
      const chosen = names.flatMap((name) => inboxes.get(name) ?? []);
      const first = Math.min(...chosen.map(({ firstAt }) => firstAt));
      return (Math.max(...chosen.map(({ lastAt }) => lastAt)) - first) / 1_000;
    },
    duplicates: () => all().reduce((sum, { requests, ids }) => sum + requests - ids.size, 0),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function receive(
  request: IncomingMessage,
  response: ServerResponse,
  inbox: Inbox | undefined,
  faults: string[],
): void {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const now = Date.now();
    // The first deliveries may come before the answer with the secret. They come again.
    if (!inbox) {
      response.writeHead(503, { 'retry-after': '0' }).end();
      return;
    }
    try {
      note(inbox, Buffer.concat(parts), request, now);
    } catch (error) {
      faults.push(String(error));
    }
    response.writeHead(204).end();
  });
}

function note(inbox: Inbox, body: Buffer, { headers }: IncomingMessage, now: number): void {
  const { id, event } = verifyWebhook(body, headers, [inbox.secret]);
  const customer = event.customer as { readonly id: string; readonly updated_at: string };
  inbox.requests += 1;
  if (inbox.ids.has(id)) return;
  if (id < (inbox.latest.get(customer.id) ?? '')) throw new Error(`${id} came out of order`);
  inbox.ids.add(id);
  inbox.latest.set(customer.id, id);
  inbox.latencies.push(now - Date.parse(customer.updated_at));
  inbox.firstAt = Math.min(inbox.firstAt, now);
  inbox.lastAt = now;
}

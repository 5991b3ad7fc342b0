import { setTimeout as pause } from 'node:timers/promises';
import type { Demo, Settings } from '@counterfoil/cli/settings';
import { api, inParallel } from '../api.ts';
import { withFreshInstallation } from '../installation.ts';
import { type Times, timesOf } from '../times.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { measureRelayCatchUp } from './relay-catch-up.ts';

/** The amount of load. */
export interface WebhookBenchOptions {
  /** Events per second of the first part, and the seconds that they last. */
  readonly perSecond: number;
  readonly steadySeconds: number;
  /** Endpoints that never answer, beside the one that is measured. */
  readonly hanging: number;
  /** Events and endpoints of the second part: each event goes to each endpoint. */
  readonly backlogEvents: number;
  readonly backlogEndpoints: number;
  /** Further events, from which the public stream is then filled again. */
  readonly catchUpEvents: number;
}

const defaults: WebhookBenchOptions = {
  perSecond: 300,
  steadySeconds: 20,
  hanging: 0,
  backlogEvents: 1_000,
  backlogEndpoints: 20,
  catchUpEvents: 20_000,
};

/** The observations of the receivers, which verified every signature. */
interface WebhookFigures {
  /** From the event, its time in the log, to the receipt, at a steady rate. */
  readonly latency: Times;
  /** One worker at a backlog: from the first receipt to the last. */
  readonly drain: { readonly deliveriesPerSecond: number; readonly deliveries: number };
  /** Requests beyond one for each delivery. */
  readonly duplicates: number;
}

const customers = 200;
const clients = 32;

/**
 * `bench webhooks`: measures the webhooks of a fresh installation with one worker, from a receiver of its
 * own on loopback, and how fast the stream that feeds them is filled from the log.
 *
 * @throws {OperatorError} when a delivery is missing, out of order or not genuine
 */
export async function benchWebhooks(
  settings: Settings,
  given: Partial<WebhookBenchOptions>,
  print: (line: string) => void,
): Promise<void> {
  await withFreshInstallation(settings, async (demo, folder) => {
    linesOf(await measureWebhooks(demo, { ...defaults, ...given })).forEach(print);
    const { messages, messagesPerSecond } = await measureRelayCatchUp(demo, folder);
    print(
      `an empty stream filled from the log: ${messagesPerSecond} messages a second (${messages} messages)`,
    );
  });
}

async function measureWebhooks(demo: Demo, options: WebhookBenchOptions): Promise<WebhookFigures> {
  const receiver = await startReceiver();
  try {
    const latency = await measureLatency(demo, receiver, options);
    const drain = await measureDrain(demo, receiver, options);
    await makeHistory(demo, options.catchUpEvents);
    return { latency, drain, duplicates: receiver.duplicates() };
  } finally {
    receiver.close();
  }
}

/** The figures as lines for people. */
const linesOf = ({ latency, drain, duplicates }: WebhookFigures): readonly string[] => [
  `from the event to its receipt: p50 ${latency.p50} ms, p95 ${latency.p95} ms, ` +
    `p99 ${latency.p99} ms, at most ${latency.maximum} ms (${latency.count} events)`,
  `one worker at a backlog: ${drain.deliveriesPerSecond} deliveries a second ` +
    `(${drain.deliveries} deliveries)`,
  `sent more than once: ${duplicates}`,
];

/** Steady updates of customers, each about one of many resources. */
async function measureLatency(
  demo: Demo,
  receiver: Receiver,
  { perSecond, steadySeconds, hanging }: WebhookBenchOptions,
): Promise<Times> {
  const ids = await makeCustomers(demo, customers, 'steady');
  const endpoint = await makeEndpoint(demo, receiver.urlOf('steady'), 64);
  const silent = await Promise.all(
    Array.from({ length: hanging }, () => makeEndpoint(demo, receiver.silentUrl, 8)),
  );
  receiver.know('steady', endpoint.secret);
  const events = perSecond * steadySeconds;
  const startedAt = performance.now();
  await inParallel(clients, events, async (index) => {
    const dueAt = startedAt + (index * 1_000) / perSecond;
    await pause(Math.max(0, dueAt - performance.now()));
    const id = ids[index % ids.length];
    await api(demo, 'PUT', `/customers?id=${id}`, { metadata: { n: String(index) } });
  });
  await receiver.untilReceived('steady', events);
  for (const { id } of [endpoint, ...silent])
    await api(demo, 'DELETE', `/webhooks/endpoints/${id}`);
  return timesOf(receiver.latencies('steady'));
}

/** Many events at once for many endpoints: the worker is fully loaded. */
async function measureDrain(
  demo: Demo,
  receiver: Receiver,
  { backlogEvents, backlogEndpoints }: WebhookBenchOptions,
): Promise<WebhookFigures['drain']> {
  const names = Array.from({ length: backlogEndpoints }, (_, index) => `backlog-${index}`);
  const endpoints = await Promise.all(
    names.map((name) => makeEndpoint(demo, receiver.urlOf(name), 16)),
  );
  names.forEach((name, index) => {
    receiver.know(name, endpoints[index]?.secret ?? '');
  });
  await makeCustomers(demo, backlogEvents, 'backlog');
  for (const name of names) await receiver.untilReceived(name, backlogEvents);
  for (const { id } of endpoints) await api(demo, 'DELETE', `/webhooks/endpoints/${id}`);
  const deliveries = backlogEvents * backlogEndpoints;
  const seconds = receiver.secondsBetween(names);
  return { deliveries, deliveriesPerSecond: Math.round(deliveries / seconds) };
}

/** Updates that no endpoint receives. */
async function makeHistory(demo: Demo, events: number): Promise<void> {
  if (events === 0) return;
  const ids = await makeCustomers(demo, customers, 'history');
  await inParallel(clients, events, async (index) => {
    const id = ids[index % ids.length];
    await api(demo, 'PUT', `/customers?id=${id}`, { metadata: { n: String(index) } });
  });
}

async function makeCustomers(
  demo: Demo,
  count: number,
  prefix: string,
): Promise<readonly string[]> {
  const ids: string[] = [];
  await inParallel(clients, count, async (index) => {
    const external_id = `${prefix}-${Date.now()}-${index}`;
    const { id } = await api<{ id: string }>(demo, 'POST', '/customers', {
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

/** An endpoint for customers that takes a number of requests at once. Its events begin with the next one. */
const makeEndpoint = (demo: Demo, url: string, max_in_flight: number): Promise<Endpoint> =>
  api(demo, 'POST', '/webhooks/endpoints', { url, max_in_flight, event_types: ['customer.*'] });

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { OperatorError } from '@counterfoil/cli/settings';
import { verifyWebhook } from '@counterfoil/cli/verify-webhook';

const drainMs = 120_000;

/** The deliveries to one endpoint. */
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

/** A server that takes webhooks, verifies them and keeps their times. */
export interface Receiver {
  urlOf(name: string): string;
  /** An address that never answers. */
  readonly silentUrl: string;
  know(name: string, secret: string): void;
  untilReceived(name: string, count: number): Promise<void>;
  latencies(name: string): readonly number[];
  secondsBetween(names: readonly string[]): number;
  duplicates(): number;
  close(): void;
}

/** Starts a receiver on a free port of loopback. */
export async function startReceiver(): Promise<Receiver> {
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
    // The first deliveries may come before the answer with the secret. They are repeated.
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

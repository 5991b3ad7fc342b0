import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OperatorError } from '../settings.ts';
import { type VerifiedWebhook, verifyWebhook, WebhookRefused } from './verify-webhook.ts';

export interface ListenOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly host: string;
  /** Secrets or public keys of endpoints; with none, nothing is verified. */
  readonly keys: readonly string[];
  /** Status to answer genuine webhooks with, to see what happens on a failure. */
  readonly status: number;
}

/** A receiver that prints the webhooks that arrive. */
export interface Listener {
  readonly port: number;
  close(): Promise<void>;
}

const bodyBytesMaximum = 512 * 1024;
/** Ids and resources that are remembered to tell repetitions and overtaken events. */
const rememberedMaximum = 10_000;

/**
 * `counterfoil webhooks listen`: receives webhooks, checks their signatures and prints a line of
 * JSON for each: its content, whether it is genuine, and whether it came before or is older than one that
 * came before.
 */
export async function listenForWebhooks(
  options: ListenOptions,
  print: (line: string) => void,
): Promise<Listener> {
  const history = createHistory();
  const server = createServer((request, response) => {
    receive(request, response, options, (line) => print(JSON.stringify(line)), history).catch(() =>
      response.destroy(),
    );
  });
  await listening(server, options);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function listening(server: Server, { port, host }: ListenOptions): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new OperatorError(`Port ${port} on ${host} cannot be listened on: ${String(error)}`);
  }
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { keys, status }: ListenOptions,
  show: (line: Readonly<Record<string, unknown>>) => void,
  history: History,
): Promise<void> {
  const body = await readBody(request);
  if (body === null) {
    response.writeHead(413).end();
    return;
  }
  const id = request.headers['webhook-id'] ?? null;
  const attempt = Number(request.headers['webhook-attempt'] ?? 1);
  try {
    const webhook = readWebhook(body, request, keys);
    const { resource, sequence, event } = webhook;
    const genuine = keys.length > 0 ? true : null;
    const seen = history.judge(webhook);
    show({ id: webhook.id, resource, sequence, attempt, genuine, ...seen, event });
    response.writeHead(status).end();
  } catch (error) {
    if (!(error instanceof WebhookRefused)) throw error;
    show({ id, attempt, genuine: false, refused: error.message });
    response.writeHead(401).end();
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > bodyBytesMaximum) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Without keys everything is taken as it is. */
function readWebhook(
  body: Buffer,
  { headers }: IncomingMessage,
  keys: readonly string[],
): VerifiedWebhook {
  if (keys.length > 0) return verifyWebhook(body, headers, keys);
  try {
    return {
      id: String(headers['webhook-id']),
      resource: String(headers['webhook-resource']),
      sequence: Number(headers['webhook-sequence'] ?? 0),
      timestamp: 0,
      event: JSON.parse(body.toString()),
    };
  } catch {
    throw new WebhookRefused('The body is no JSON.');
  }
}

/** The relation of an event to those that came before it. */
interface Seen {
  /** True when it came before. */
  readonly repeated: boolean;
  /** True when a later event of the same resource came before: its records are outdated, an entry counts. */
  readonly overtaken: boolean;
}

interface History {
  judge(webhook: VerifiedWebhook): Seen;
}

function createHistory(): History {
  const ids = new Set<string>();
  const latest = new Map<string, number>();
  return {
    judge: ({ id, resource, sequence }) => {
      const last = latest.get(resource) ?? -1;
      const seen = { repeated: ids.has(id), overtaken: sequence < last };
      ids.add(id);
      latest.delete(resource);
      latest.set(resource, Math.max(sequence, last));
      forgetOldest(ids);
      forgetOldest(latest);
      return seen;
    },
  };
}

function forgetOldest(kept: Set<string> | Map<string, number>): void {
  const [oldest] = kept.keys();
  if (kept.size > rememberedMaximum && oldest !== undefined) kept.delete(oldest);
}

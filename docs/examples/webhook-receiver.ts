/**
 * Receives webhooks on http://127.0.0.1:9000, checks their signatures and prints each event once,
 * in order: `node docs/examples/webhook-receiver.ts whsec_…`
 *
 * Several secrets may be given, which is what you do while one is exchanged. A real receiver keeps
 * what this one keeps in memory in its database, in the transaction in which it deals with the event.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook, WebhookRefused } from '../../apps/cli/src/webhooks/verify-webhook.ts';

const bodyBytesMaximum = 512 * 1024;
const rememberedMaximum = 10_000;

/** The receiver's work with an event: `resource` is the record that it is about. */
export type Handle = (
  id: string,
  resource: string,
  event: Readonly<Record<string, unknown>>,
) => void;

/**
 * An event is dealt with when it is later than the last one of its resource. That drops what comes
 * twice (the id is the same) and what was overtaken (the id is smaller), which is all that "at
 * least once, in order per resource" asks of a receiver.
 */
function createInbox(handle: Handle) {
  const latest = new Map<string, string>();
  return (id: string, event: Readonly<Record<string, unknown>>): void => {
    const resource = resourceOf(event);
    if (id <= (latest.get(resource) ?? '')) return;
    handle(id, resource, event);
    latest.delete(resource);
    latest.set(resource, id);
    const [oldest] = latest.keys();
    if (latest.size > rememberedMaximum && oldest !== undefined) latest.delete(oldest);
  };
}

/** `customer.updated` is about the member `customer`; the first record of the body is the resource. */
function resourceOf(event: Readonly<Record<string, unknown>>): string {
  for (const member of Object.values(event)) {
    if (typeof member === 'object' && member !== null && 'id' in member) return String(member.id);
  }
  return String(event.event_type);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > bodyBytesMaximum) throw new WebhookRefused('The body is too long.');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Starts to receive. Answers 204 when an event is dealt with, 401 when it is not genuine. */
export async function startReceiver(port: number, keys: readonly string[], handle: Handle) {
  const receive = createInbox(handle);
  const server = createServer(async (request, response) => {
    try {
      const { id, event } = verifyWebhook(await readBody(request), request.headers, keys);
      receive(id, event);
      response.writeHead(204).end();
    } catch (error) {
      // Whatever else goes wrong is answered 500: then the event comes again.
      response.writeHead(error instanceof WebhookRefused ? 401 : 500).end();
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

if (import.meta.url === `file://${process.argv[1]}`) {
  await startReceiver(9000, process.argv.slice(2), (id, _, event) =>
    console.log(id, JSON.stringify(event)),
  );
  console.log('waiting for webhooks');
}

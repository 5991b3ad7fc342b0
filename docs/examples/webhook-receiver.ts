/**
 * Receives webhooks on http://127.0.0.1:9000, checks their signatures and prints each event once,
 * never an outdated state: `node docs/examples/webhook-receiver.ts whsec_…`
 *
 * Several secrets may be given, which is what you do while one is exchanged. A real receiver keeps
 * what this one keeps in memory in its database, in the transaction in which it deals with the event.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type VerifiedWebhook,
  verifyWebhook,
  WebhookRefused,
} from '../../apps/cli/src/webhooks/verify-webhook.ts';

const bodyBytesMaximum = 512 * 1024;
const rememberedMaximum = 10_000;

/** The receiver's work with an event that it has not dealt with before. */
export type Handle = (webhook: VerifiedWebhook, place: Place) => void;

/** False when a later event of the same resource came before: the records in the body are outdated. */
interface Place {
  readonly isNewest: boolean;
}

/**
 * The types whose events count one by one, each entry of a ledger and each alert, as `GET /v1/event-types`
 * says (`kind`). All other events show the state of a record.
 */
export const entryTypes: ReadonlySet<string> = new Set([
  'feature.wallet_balance.alert',
  'invoice.communication.triggered',
  'invoice.payment.overdue',
  'ledger.checkpoint.created',
  'message.exhausted',
  'subscription.phase.created',
  'subscription.phase.deleted',
  'subscription.phase.updated',
  'subscription.renewal.due',
  'usage_alert.threshold_crossed',
  'wallet.credit_balance.dropped',
  'wallet.credit_balance.recovered',
  'wallet.ongoing_balance.dropped',
  'wallet.ongoing_balance.recovered',
  'wallet.transaction.created',
]);

/**
 * A message that comes twice is dropped by its id. A state is dropped when it was overtaken, so that the greatest
 * sequence of each resource wins. An entry never is: it counts, and only the records beside it (the wallet
 * of a transaction) are outdated.
 */
function createInbox(handle: Handle) {
  const ids = new Set<string>();
  const newest = new Map<string, number>();
  return (webhook: VerifiedWebhook): void => {
    const { id, resource, sequence, event } = webhook;
    if (ids.has(id)) return;
    const last = newest.get(resource) ?? -1;
    const isNewest = sequence >= last;
    if (isNewest || entryTypes.has(event.event_type)) handle(webhook, { isNewest });
    ids.add(id);
    newest.delete(resource);
    newest.set(resource, Math.max(sequence, last));
    for (const kept of [ids, newest]) {
      const [oldest] = kept.keys();
      if (kept.size > rememberedMaximum && oldest !== undefined) kept.delete(oldest);
    }
  };
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
      receive(verifyWebhook(await readBody(request), request.headers, keys));
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
  await startReceiver(9000, process.argv.slice(2), ({ id, event }, { isNewest }) =>
    console.log(id, isNewest ? 'newest' : 'outdated', JSON.stringify(event)),
  );
  console.log('waiting for webhooks');
}

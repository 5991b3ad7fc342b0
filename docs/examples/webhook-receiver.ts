/**
 * Receives webhooks on http://127.0.0.1:9000, checks their signatures and prints them:
 * `node --import tsx docs/examples/webhook-receiver.ts whsec_…`
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';

const toleranceSeconds = 300;
const bodyBytesMaximum = 512 * 1024;
const rememberedMaximum = 10_000;

const [secret = ''] = process.argv.slice(2);
const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
/** Deliveries come at least once: what has been dealt with is recognised by its id. */
const seen = new Set<string>();

/** Whether the request was signed with our secret, and not long ago. */
function isGenuine(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const id = String(headers['webhook-id']);
  const timestamp = String(headers['webhook-timestamp']);
  const isRecent = Math.abs(Date.now() / 1_000 - Number(timestamp)) <= toleranceSeconds;
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  // While a secret is being exchanged there may be several signatures, separated by spaces.
  return String(headers['webhook-signature'])
    .split(' ')
    .map((signature) => Buffer.from(signature.replace(/^v1,/, ''), 'base64'))
    .some(
      (given) => isRecent && given.length === expected.length && timingSafeEqual(given, expected),
    );
}

/** Prints an event the first time that it comes. */
function receive(id: string, body: Buffer): void {
  if (seen.has(id)) return;
  seen.add(id);
  const [oldest] = seen;
  if (seen.size > rememberedMaximum && oldest !== undefined) seen.delete(oldest);
  console.log(id, body.toString('utf8'));
}

createServer((request, response) => {
  const parts: Buffer[] = [];
  let length = 0;
  request.on('data', (part: Buffer) => {
    parts.push(part);
    length += part.length;
    if (length > bodyBytesMaximum) request.destroy();
  });
  request.on('end', () => {
    const body = Buffer.concat(parts);
    const genuine = isGenuine(request.headers, body);
    if (genuine) receive(String(request.headers['webhook-id']), body);
    response.writeHead(genuine ? 204 : 401).end();
  });
}).listen(9000, '127.0.0.1', () => console.log('waiting for webhooks'));

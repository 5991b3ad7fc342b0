import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { invariant } from '@counterfoil/kernel';

/** A line of a question, as far as these tests look at it. */
interface AskedLine {
  readonly id: string;
  readonly amount: string;
  readonly tax_behavior: string;
}

/** A question as it came. */
export interface Asked {
  readonly id: string;
  readonly purpose: string;
  readonly invoice_id: string;
  readonly currency: string;
  readonly customer: Readonly<Record<string, unknown>>;
  readonly lines: readonly AskedLine[];
}

/** Whatever a provider does with a question. */
export type Behaviour = (asked: Asked, response: ServerResponse) => void;

export const taxSecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

/** Answers with what is given. */
export const answering =
  (answer: unknown, status = 200): Behaviour =>
  (_asked, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  };

/** Answers with one tax on each line. */
export const withTax =
  (rate: string, amountOf: (line: AskedLine) => string): Behaviour =>
  (asked, response) => {
    const lines = asked.lines.map((line) => ({
      id: line.id,
      taxes: [{ name: 'Sales tax', code: 'SALES', rate, amount: amountOf(line) }],
    }));
    answering({ lines })(asked, response);
  };

/** Never answers. */
export const silent: Behaviour = () => undefined;

/** A tax provider of a tenant, which checks that questions are signed. It answers as it is told to. */
export async function taxServer(begins: Behaviour) {
  let behaviour = begins;
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const question = { ...(JSON.parse(body) as Asked), id: signedId(request, body) };
      asked.push(question);
      behaviour(question, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/taxes`,
    asked,
    behaves: (next: Behaviour): void => {
      behaviour = next;
    },
    close: async (): Promise<void> => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

/** The id of a question, whose signature is right. */
function signedId(request: IncomingMessage, body: string): string {
  const header = (name: string): string => String(request.headers[name]);
  const id = header('webhook-id');
  const signed = `${id}.${header('webhook-timestamp')}.${body}`;
  const key = Buffer.from(taxSecret.slice('whsec_'.length), 'base64');
  const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  invariant(header('webhook-signature') === expected, 'the signature is wrong');
  return id;
}

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './test-world.ts';

/** A request that came in, with the moments between which it was open. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly id: string;
  /** Counts beginnings and ends of requests of the receiver together. */
  readonly began: number;
  ended: number | null;
}

/**
 * The answer of the receiver: a status, nothing at all (the request stays open), or an answer by
 * hand.
 */
export type Answer = number | 'hang' | ((response: ServerResponse) => void);

/** A system that receives webhooks and keeps what it got. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Decides every answer from now on; 200 until something else is said. */
  answer(decide: (received: Received) => Answer | Promise<Answer>): void;
  /** Waits until so many requests have come in. */
  count(requests: number): Promise<void>;
  /** Ids of what came in, in order. */
  ids(): readonly string[];
  close(): void;
}

/** Starts a receiver on a free port. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let clock = 0;
  let decide: (one: Received) => Answer | Promise<Answer> = () => 200;
  const server = createServer(async (request, response) => {
    clock += 1;
    const began = clock;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const one: Received = {
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
      id: String(request.headers['webhook-id']),
      began,
      ended: null,
    };
    received.push(one);
    const answer = await decide(one);
    if (answer === 'hang') return;
    clock += 1;
    one.ended = clock;
    if (typeof answer === 'number') response.writeHead(answer).end('answered');
    else answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    answer: (next) => {
      decide = next;
    },
    count: (requests) => eventually(`${requests} requests`, () => received.length >= requests),
    ids: () => received.map(({ id }) => id),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

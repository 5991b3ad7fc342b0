import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { instantOf, Problem, randomId } from '@counterfoil/kernel';
import { problemBody } from './problem-body.ts';

/** The listening side: accepts connections, limits their times, and ends them in order. */
export interface Connections {
  listen(port: number, host: string): Promise<{ readonly port: number }>;
  /** See `HttpServer.close`. */
  close(drainMs: number): Promise<void>;
  readonly isClosing: () => boolean;
  /** To be called whenever an answer is out. */
  readonly onAnswered: () => void;
}

/** Longer than the usual 60 s of proxies, so that a proxy never reuses a connection we just closed. */
const keepAliveTimeoutMs = 65_000;
const headersTimeoutMs = 10_000;
/** The interval at which Node looks for connections whose time is up. */
const checkingIntervalMs = 5_000;

/** Makes the listening side of a request listener. `requestTimeoutMs` is the time to receive one. */
export function createConnections(
  listener: (connections: Connections) => RequestListener,
  requestTimeoutMs: number,
): Connections {
  const connectionsCheckingInterval = Math.min(checkingIntervalMs, requestTimeoutMs);
  const server = createServer({ noDelay: true, connectionsCheckingInterval });
  server.headersTimeout = Math.min(headersTimeoutMs, requestTimeoutMs);
  // A body that is read has its time in `Traffic`; this ends those that nobody reads.
  server.requestTimeout = 2 * requestTimeoutMs;
  server.keepAliveTimeout = keepAliveTimeoutMs;
  let closing = false;
  const connections: Connections = {
    listen: (port, host) => listen(server, port, host),
    close: (drainMs) => {
      closing = true;
      return drain(server, drainMs);
    },
    isClosing: () => closing,
    // A connection that stays open after its last answer would delay the end until its time-out.
    onAnswered: () => {
      if (closing) setImmediate(() => server.closeIdleConnections());
    },
  };
  const lastRequests = new WeakMap<Duplex, IncomingMessage>();
  const answerRequest = listener(connections);
  const requestListener: RequestListener = (request, response) => {
    lastRequests.set(request.socket, request);
    answerRequest(request, response);
  };
  server.on('request', requestListener);
  // An unknown expectation is ignored, as RFC 9110 allows.
  server.on('checkExpectation', requestListener);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') {
      answerByHand(socket, brokenRequest(error));
      return;
    }
    const last = lastRequests.get(socket);
    // What has arrived is read first: when the process stood still, the delay was its own.
    setImmediate(() => {
      if (lastRequests.get(socket) !== last) return;
      // A connection that has sent nothing has asked nothing; a body that is late has its answer.
      if (socket.bytesRead === 0 || last?.complete === false) socket.destroy();
      else answerByHand(socket, lateRequest());
    });
  });
  return connections;
}

function listen(server: Server, port: number, host: string): Promise<{ readonly port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve({ port: (server.address() as AddressInfo).port });
    });
  });
}

async function drain(server: Server, drainMs: number): Promise<void> {
  if (!server.listening) return;
  const timer = setTimeout(() => server.closeAllConnections(), drainMs);
  try {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeIdleConnections();
    });
  } finally {
    clearTimeout(timer);
  }
}

const lateRequest = (): Problem =>
  new Problem('request_timeout', 'The request did not arrive in time. Send it again.');

const brokenRequest = ({ code }: NodeJS.ErrnoException): Problem =>
  new Problem(
    'validation_error',
    code === 'HPE_HEADER_OVERFLOW'
      ? 'The request headers, with the path, must have at most 16 KiB.'
      : 'This is not a well-formed HTTP/1.1 request.',
  );

/** Answers what never became a request, by hand: there is no response yet. */
function answerByHand(socket: Duplex, problem: Problem): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const id = randomId('req', instantOf(Date.now()));
  const body = JSON.stringify(problemBody(problem, id));
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${id}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/**
 * A proxy for tests that stands between the client and a real event store and misbehaves on
 * request. It passes gRPC on as HTTP/2 without understanding it, and counts what is open.
 */
import {
  type ClientHttp2Session,
  connect,
  constants,
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';

/** The fault of a method of the server, named by the end of its path, such as `/BatchAppend`. */
export type Fault =
  /** Nothing is passed on and nothing is answered. */
  | { readonly kind: 'swallow' }
  /** Requests are passed on, answers are not. */
  | { readonly kind: 'mute' }
  /** Answered at once with a gRPC status and no message. */
  | { readonly kind: 'status'; readonly code: number; readonly trailers?: IncomingHttpHeaders };

export interface FaultyProxy {
  readonly port: number;
  /** Connection string for the client. */
  readonly url: string;
  /** Applies to calls that begin from now on; null ends it. */
  setFault(method: string, fault: Fault | null): void;
  /** Ends open calls of a method with a gRPC status. */
  endCalls(method: string, code: number, trailers?: IncomingHttpHeaders): void;
  /** Calls of a method that are open now. */
  openCalls(method: string): number;
  /** Calls of a method that have begun so far. */
  callsBegun(method: string): number;
  /** Calls of a method that the client has cancelled so far. */
  callsCancelled(method: string): number;
  /** Resolves when this many calls of a method have begun in all. */
  whenBegun(method: string, times: number): Promise<void>;
  /** Resolves when no call of a method is open. */
  whenIdle(method: string): Promise<void>;
  close(): Promise<void>;
}

interface OpenStream {
  readonly path: string;
  readonly stream: ServerHttp2Stream;
}

/** Starts a proxy on a free port of the loopback address, in front of a server on another. */
export async function startFaultyProxy(targetPort: number): Promise<FaultyProxy> {
  const faults = new Map<string, Fault>();
  const open = new Set<OpenStream>();
  const begun: string[] = [];
  const cancelled: string[] = [];
  const sessions = new Set<Http2Session>();
  const watchers = new Set<() => void>();
  const notify = (): void => {
    for (const watcher of watchers) watcher();
  };
  const openOf = (method: string): OpenStream[] =>
    [...open].filter(({ path }) => path.endsWith(method));
  const callsBegun = (method: string): number =>
    begun.filter((path) => path.endsWith(method)).length;
  const until = (condition: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const watcher = (): void => {
        if (!condition()) return;
        watchers.delete(watcher);
        resolve();
      };
      watchers.add(watcher);
      watcher();
    });

  const upstream = connect(`http://127.0.0.1:${targetPort}`);
  upstream.on('error', () => {});
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => {}).once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    const entry = { path: String(headers[':path']), stream };
    open.add(entry);
    begun.push(entry.path);
    stream.on('error', () => {});
    stream.once('close', () => {
      open.delete(entry);
      if (stream.rstCode === constants.NGHTTP2_CANCEL) cancelled.push(entry.path);
      notify();
    });
    notify();
    const fault = [...faults].find(([method]) => entry.path.endsWith(method))?.[1];
    answer(upstream, stream, headers, fault);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    port,
    url: `esdb://127.0.0.1:${port}?tls=false`,
    setFault: (method, fault) => {
      if (fault) faults.set(method, fault);
      else faults.delete(method);
    },
    endCalls: (method, code, trailers) => {
      for (const { stream } of openOf(method)) endWithStatus(stream, code, trailers);
    },
    openCalls: (method) => openOf(method).length,
    callsBegun,
    callsCancelled: (method) => cancelled.filter((path) => path.endsWith(method)).length,
    whenBegun: (method, times) => until(() => callsBegun(method) >= times),
    whenIdle: (method) => until(() => openOf(method).length === 0),
    close: async () => {
      for (const session of sessions) session.destroy();
      upstream.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const grpcHeaders = { ':status': 200, 'content-type': 'application/grpc+proto' };

function answer(
  upstream: ClientHttp2Session,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  fault: Fault | undefined,
): void {
  if (fault?.kind === 'status') endWithStatus(stream, fault.code, fault.trailers);
  if (fault?.kind === 'swallow') stream.resume();
  if (!fault || fault.kind === 'mute') passOn(upstream, stream, headers, fault !== undefined);
}

/** Ends a call whether or not it has begun to answer. */
function endWithStatus(
  stream: ServerHttp2Stream,
  code: number,
  trailers: IncomingHttpHeaders = {},
): void {
  if (stream.closed) return;
  const status = { 'grpc-status': String(code), 'grpc-message': 'injected', ...trailers };
  stream.removeAllListeners('wantTrailers');
  if (stream.headersSent) {
    stream.once('wantTrailers', () => stream.sendTrailers(status));
    stream.end();
  } else {
    stream.respond({ ...grpcHeaders, ...status }, { endStream: true });
  }
}

function passOn(
  upstream: ClientHttp2Session,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  isMute: boolean,
): void {
  const request = upstream.request(headers, { endStream: false });
  request.on('error', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
  stream.pipe(request);
  stream.once('close', () => request.close(constants.NGHTTP2_CANCEL));
  if (isMute) {
    request.resume();
    return;
  }
  let trailers: IncomingHttpHeaders = {};
  request.once('trailers', (received) => {
    trailers = received;
  });
  request.once('response', (received, flags) => {
    if (stream.closed) return;
    const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.respond(received, { endStream, waitForTrailers: !endStream });
    stream.once('wantTrailers', () => stream.sendTrailers(trailers));
    if (!endStream) request.pipe(stream);
  });
}

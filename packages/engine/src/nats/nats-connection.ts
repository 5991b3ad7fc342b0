import {
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  ErrorCode,
  Events,
  type NatsConnection,
  NatsError,
} from 'nats';
import { createBackOff, messageOf, sleep, unlessAborted } from '../consume/run-forever.ts';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import { natsAddress } from './nats-address.ts';

/** One unbroken connection. After a loss the next session is another one, with a new signal. */
export interface NatsSession {
  readonly connection: NatsConnection;
  /** Aborts when this connection is lost. Requests that were under way have an unknown outcome. */
  readonly lost: AbortSignal;
}

/** The reason with which `lost` aborts. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  constructor() {
    super('the connection to NATS was lost');
  }
}

/** The broker does not let us in. Only an administrator can change that. */
export class NatsRefused extends Error {
  override readonly name = 'NatsRefused';
  constructor(options?: ErrorOptions) {
    super('NATS refuses the user and password of NATS_URL: correct them.', options);
  }
}

export interface NatsStatus {
  readonly connected: boolean;
  /** The reason why there is no connection, as far as it is known. */
  readonly error: string | null;
}

/**
 * The way to NATS. It connects and reconnects by itself for ever; its users ask for the session of
 * the moment. Only the files `nats-*.ts` use the client that is behind it.
 */
export interface Nats {
  /** The current session, waiting for one as long as it takes. Rejects when the signal aborts. */
  session(signal: AbortSignal): Promise<NatsSession>;
  status(): NatsStatus;
  /** Throws while there is no connection. */
  check(): Promise<void>;
  /**
   * Gives up the connection. Messages that are published but not yet answered have an unknown
   * outcome.
   */
  close(): Promise<void>;
}

export interface NatsOptions {
  /** `nats://` or `tls://` addresses, separated by commas; user and password or token inside. */
  readonly url: string;
  /** The content of a `.creds` file, for servers that ask for one. */
  readonly credentials?: string;
  /** Shown by the server's monitoring. */
  readonly name: string;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** Milliseconds that `connectNats` waits for the first connection before it returns anyway. */
  readonly firstWait?: number;
}

const connectMilliseconds = 2_000;
const reconnectMilliseconds = 250;
const backOffMaximum = 5_000;
const pingMilliseconds = 10_000;

/** Milliseconds as the nanoseconds that JetStream counts in. */
export const nanoseconds = (milliseconds: number): number => Math.round(milliseconds * 1_000_000);

/**
 * Connects to NATS. Resolves with the first connection, or without one after `firstWait` (5 s),
 * because an absent broker must not keep the rest of the service from starting.
 * Throws only on an address that is none, and `NatsRefused` when the broker does not let us in.
 */
export async function connectNats(options: NatsOptions): Promise<Nats> {
  const link = createLink(options);
  const closing = new AbortController();
  const running = keepConnected(connectionOptions(options), link, closing.signal);
  await sleep(options.firstWait ?? 5_000, link.firstConnected);
  const refusal = link.refusal();
  if (refusal !== null) {
    closing.abort();
    await running;
    throw new NatsRefused({ cause: refusal });
  }
  return {
    session: (signal) => link.session(signal),
    status: () => link.status(),
    check: async () => {
      const { connected, error } = link.status();
      if (!connected) throw new Error(error ?? 'There is no connection to NATS.');
    },
    close: async () => {
      closing.abort();
      await running;
    },
  };
}

const connectionOptions = ({ url, name, credentials }: NatsOptions): ConnectionOptions => ({
  ...natsAddress(url),
  ...(credentials === undefined
    ? {}
    : { authenticator: credsAuthenticator(new TextEncoder().encode(credentials)) }),
  name,
  timeout: connectMilliseconds,
  maxReconnectAttempts: -1,
  reconnectTimeWait: reconnectMilliseconds,
  reconnectJitter: reconnectMilliseconds,
  pingInterval: pingMilliseconds,
  maxPingOut: 2,
  // A password that is being changed must not end the connection for good.
  ignoreAuthErrorAbort: true,
});

/**
 * Dials until it works. From then on the client reconnects by itself; should it ever give up,
 * it is dialled again. The client's own `waitOnFirstConnect` is not used: it cannot be stopped.
 */
async function keepConnected(
  options: ConnectionOptions,
  link: Link,
  closing: AbortSignal,
): Promise<void> {
  const backOff = createBackOff({
    firstMilliseconds: reconnectMilliseconds,
    lastMilliseconds: backOffMaximum,
  });
  while (!closing.aborted) {
    try {
      const connection = await connect(options);
      backOff.reset();
      await useConnection(connection, link, closing);
    } catch (error) {
      link.failed(error);
    }
    await sleep(backOff.next(), closing);
  }
}

async function useConnection(
  connection: NatsConnection,
  link: Link,
  closing: AbortSignal,
): Promise<void> {
  const close = (): void => void connection.close().catch(() => {});
  closing.addEventListener('abort', close, { once: true });
  if (closing.aborted) close();
  link.up(connection);
  // The client never ends this list of events, not even when it is closed.
  void watch(connection, link);
  const error = await connection.closed();
  closing.removeEventListener('abort', close);
  link.down(closing.aborted ? null : (error ?? new Error('the connection was closed')));
}

async function watch(connection: NatsConnection, link: Link): Promise<void> {
  for await (const { type, data } of connection.status()) {
    if (type === Events.Disconnect) link.down(new Error(`the connection to ${data} was lost`));
    else if (type === Events.Reconnect) link.up(connection);
    else if (type === Events.Error) link.failed(new Error(`the server reports ${data}`));
  }
}

const isRefused = (error: unknown): boolean =>
  error instanceof NatsError && error.code === ErrorCode.AuthorizationViolation;

interface Link extends Pick<Nats, 'session' | 'status'> {
  readonly firstConnected: AbortSignal;
  /** The broker's refusal of our user, if that was the last failure; null otherwise. */
  refusal(): unknown;
  up(connection: NatsConnection): void;
  down(error: Error | null): void;
  failed(error: unknown): void;
}

/** Holds the session of the moment and those who wait for one; tells log and metrics. */
function createLink({ log, metrics }: NatsOptions): Link {
  let current: (NatsSession & { readonly ended: AbortController }) | null = null;
  let lastError: string | null = null;
  let refusal: unknown = null;
  let next = Promise.withResolvers<NatsSession>();
  const first = new AbortController();
  const losses = metrics?.counter({
    name: 'counterfoil_nats_connections_lost_total',
    help: 'How often the connection to NATS was lost',
  });
  metrics?.gauge({
    name: 'counterfoil_nats_connected',
    help: 'Whether there is a connection to NATS (1) or not (0)',
    collect: (gauge) => gauge.set(current ? 1 : 0),
  });
  const failed = (error: unknown): void => {
    const message = messageOf(error);
    if (message !== lastError) log.warn({ error: message }, 'NATS: no connection');
    lastError = message;
    refusal = isRefused(error) ? error : null;
  };
  return {
    firstConnected: first.signal,
    refusal: () => refusal,
    status: () => ({
      connected: current !== null,
      error: lastError,
    }),
    session: (signal) => (current ? Promise.resolve(current) : unlessAborted(next.promise, signal)),
    up: (connection) => {
      const ended = new AbortController();
      const session = { connection, ended, lost: ended.signal };
      current?.ended.abort(new ConnectionLost());
      current = session;
      lastError = null;
      refusal = null;
      first.abort();
      log.info({ server: connection.getServer() }, 'NATS: connected');
      next.resolve(session);
      next = Promise.withResolvers();
    },
    down: (error) => {
      if (!current) return;
      current.ended.abort(new ConnectionLost());
      current = null;
      if (!error) return;
      losses?.inc();
      failed(error);
    },
    failed,
  };
}

/** A server in a temporary directory with the official client, for the tests of this package. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreDBClient, jsonEvent, type ResolvedEvent } from '@eventstore/db-client';
import { credentials } from '@grpc/grpc-js';
import { streamServices } from './protocol.ts';
import { type RunningServer, type ServerOptions, startEventStoreServer } from './server.ts';

/** A server on a throw-away directory, with a client. */
export interface TestServer {
  client: EventStoreDBClient;
  server: RunningServer;
  readonly directory: string;
  /** Closes the server and starts another one on the same files, with a new client. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

type Overrides = Omit<ServerOptions, 'directory'>;

/** Starts a server and a client; `close` removes the files as well. */
export async function openTestServer(overrides: Overrides = {}): Promise<TestServer> {
  const directory = await temporaryDirectory();
  const start = async () => {
    const server = await startEventStoreServer({ ...overrides, directory });
    return { server, client: EventStoreDBClient.connectionString(server.connectionString) };
  };
  const running: TestServer = {
    ...(await start()),
    directory,
    restart: async () => {
      await running.client.dispose();
      await running.server.close();
      Object.assign(running, await start());
    },
    close: async () => {
      await running.client.dispose();
      await running.server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
  return running;
}

/** A new empty directory. */
export function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'embedded-eventstore-'));
}

/** A client without any logic of its own, for requests that the official client never makes. */
export function openRawClient(server: RunningServer) {
  return new streamServices.StreamsClient(
    `${server.host}:${server.port}`,
    credentials.createInsecure(),
  );
}

const idOf = (number: number): string =>
  `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** Events with fixed ids, so that the same number always means the same event. */
export function numbered(...numbers: number[]) {
  return numbers.map((number) =>
    jsonEvent({ id: idOf(number), type: 'Numbered', data: { number } }),
  );
}

/** Reads a stream or `$all` completely. */
export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** The revisions of events, as numbers. */
export function revisionsOf(events: readonly ResolvedEvent[]): number[] {
  return events.map(({ event }) => Number(event?.revision));
}

/** Runs something that must be refused and gives what was thrown. */
export async function refusal(
  action: () => PromiseLike<unknown>,
): Promise<Record<string, unknown>> {
  try {
    await action();
  } catch (error) {
    if (typeof error === 'object' && error !== null) return error as Record<string, unknown>;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** The error with which a subscription ends. */
export function failureOf(subscription: {
  once(event: 'error', listener: (error: Error) => void): unknown;
}): Promise<Error & { readonly type?: unknown }> {
  return new Promise((resolve) => subscription.once('error', resolve));
}

/** A promise with its settling functions, to hold something back until a test lets it go. */
export function gate(): { readonly opened: Promise<void>; open(): void; fail(error: Error): void } {
  let open = (): void => {};
  let fail = (_error: Error): void => {};
  const opened = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  // A gate that nobody waits at yet may be failed already.
  opened.catch(() => {});
  return { opened, open: () => open(), fail: (error) => fail(error) };
}

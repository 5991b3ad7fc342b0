/** Puts storage, writer and services together behind one gRPC port. */
import { mkdir } from 'node:fs/promises';
import {
  Server,
  ServerCredentials,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { createAppendHandler } from './append-service.ts';
import { createBatchAppendHandler } from './batch-append.ts';
import { readBatchMessage } from './batch-request.ts';
import { clusterInfo, newInstanceId, supportedMethods } from './cluster-service.ts';
import { createDeleteHandler, createTombstoneHandler } from './delete-service.ts';
import { limits } from './limits.ts';
import { lockDirectory } from './lock.ts';
import { createOpenCalls, type OpenCalls } from './open-calls.ts';
import { featureServices, gossipServices, streamServices } from './protocol.ts';
import { createReadHandler } from './read-service.ts';
import { openStorage, type Storage } from './storage.ts';
import { createEventStore, type EventStore } from './store.ts';
import type { SubscriptionTerms } from './subscription.ts';

/** The options of a server. */
export interface ServerOptions extends SubscriptionTerms {
  /** The folder of the files; created when it does not exist. */
  readonly directory: string;
  /** Address to listen on; loopback unless given, because the protocol is not protected. */
  readonly host?: string;
  /** Port to listen on; 0, the default, takes a free one. */
  readonly port?: number;
  /** Receives one line per noteworthy event. */
  readonly log?: (line: string) => void;
  /** Called once when a commit failed and the server has stopped serving. */
  readonly onFailure?: (error: Error) => void;
  /** Wraps the files; tests use it to delay or fail commits. */
  readonly wrapStorage?: (storage: Storage) => Storage;
}

/** A server that accepts calls. */
export interface RunningServer {
  readonly host: string;
  readonly port: number;
  /** For the official client, such as `esdb://127.0.0.1:2113?tls=false`. */
  readonly connectionString: string;
  /** Identity of the stored data: it changes when the directory starts empty. */
  readonly generation: string;
  /** Refuses new work, finishes accepted appends, ends all calls and closes the files. */
  close(): Promise<void>;
}

/**
 * Starts an event store in this thread. Rejects with `DirectoryLockedError` when the directory
 * has another server, and with an error when its format or its port cannot be used.
 */
export async function startEventStoreServer(options: ServerOptions): Promise<RunningServer> {
  const { directory, host = '127.0.0.1', log = () => {} } = options;
  await mkdir(directory, { recursive: true });
  const lock = lockDirectory(directory);
  try {
    const opened = await openStorage(directory);
    const storage = options.wrapStorage?.(opened) ?? opened;
    const calls = createOpenCalls();
    const store = createEventStore({
      storage,
      now: Date.now,
      onFailure: (error) => {
        log(`commit failed, the server stops: ${error.message}`);
        calls.endAll(`the event store has stopped: ${error.message}`);
        options.onFailure?.(error);
      },
    });
    try {
      const bound = await listen(store, calls, host, options);
      const connectionString = `esdb://${bracketed(host)}:${bound.port}?tls=false`;
      lock.describe(connectionString);
      log(`listening on ${connectionString}`);
      let closing: Promise<void> | undefined;
      const close = async (): Promise<void> => {
        // Appends that were accepted are answered before their calls are ended.
        calls.refuse('the event store is shutting down');
        await store.idle();
        calls.endAll('the event store is shutting down');
        await endServer(bound.server);
        await store.close();
        lock.release();
        log('closed');
      };
      return {
        host,
        port: bound.port,
        connectionString,
        generation: store.generation,
        close: () => {
          closing ??= close();
          return closing;
        },
      };
    } catch (error) {
      await store.close();
      throw error;
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function listen(
  store: EventStore,
  calls: OpenCalls,
  host: string,
  options: ServerOptions,
): Promise<{ server: Server; port: number }> {
  const server = new Server({
    'grpc.max_receive_message_length': limits.receiveMessageBytes,
    'grpc.max_send_message_length': -1,
  });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(
      `${bracketed(host)}:${options.port ?? 0}`,
      ServerCredentials.createInsecure(),
      (error, boundPort) => (error === null ? resolve(boundPort) : reject(error)),
    );
  });
  const instanceId = newInstanceId();
  addService(server, featureServices.ServerFeaturesService, {
    getSupportedMethods: (_call: unknown, reply: sendUnaryData<unknown>) =>
      reply(null, supportedMethods()),
  });
  addService(server, gossipServices.GossipService, {
    read: (_call: unknown, reply: sendUnaryData<unknown>) =>
      reply(null, clusterInfo(instanceId, host, bound)),
  });
  const streams = streamServices.StreamsService;
  addService(
    server,
    // Reads hand over groups of messages that were encoded when the events were written, and appends
    // groups of answers; a group takes the place of the Buffer that this type asks for (see outlet.ts).
    {
      ...streams,
      read: { ...streams.read, responseSerialize: (message: Buffer) => message },
      batchAppend: {
        ...streams.batchAppend,
        requestDeserialize: readBatchMessage,
        responseSerialize: (message: Buffer) => message,
      },
    },
    {
      read: createReadHandler(store, calls, options),
      append: createAppendHandler(store, calls),
      batchAppend: createBatchAppendHandler(store, calls),
      delete: createDeleteHandler(store, calls),
      tombstone: createTombstoneHandler(store, calls),
    },
  );
  return { server, port: bound };
}

function addService(
  server: Server,
  definition: Parameters<Server['addService']>[0],
  implementation: UntypedServiceImplementation,
): void {
  server.addService(definition, implementation);
}

/** Lets the final statuses reach the clients, then cuts what is still connected. */
async function endServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, limits.shutdownMilliseconds);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
  server.forceShutdown();
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

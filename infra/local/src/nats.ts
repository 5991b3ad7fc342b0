import { join } from 'node:path';
import type { LocalServer } from './local-server.ts';
import { startNatsProcess } from './nats-process.ts';
import { onPort } from './ports.ts';

export interface NatsOptions {
  /** Folder for everything this server keeps; created when absent. */
  readonly directory: string;
  /** Default: a free one. */
  readonly port?: number;
  /** The port on which it listens for leaf nodes. Default: a free one. */
  readonly leafPort?: number;
}

/** A nats-server that others can be linked with. */
export interface LocalNats extends LocalServer {
  readonly leafPort: number;
}

/** Requests to JetStream come through a leaf node only under the name of a domain. */
const DOMAIN = 'counterfoil';

/**
 * Starts a nats-server with JetStream on 127.0.0.1. Streams and consumers lie in the folder and are
 * there again after a restart, also after a crash.
 *
 * @throws {ServerStartError} when there is no nats-server, or with what it said
 * @throws {AlreadyRunningError} when a living process runs a server on this folder
 */
export async function startNats({ directory, port, leafPort }: NatsOptions): Promise<LocalNats> {
  return await onPort(leafPort, async (leaf) => {
    const server = await startNatsProcess({
      directory,
      port,
      configuration: (folder, clientPort) => configuration(folder, clientPort, leaf),
    });
    return { ...server, leafPort: leaf };
  });
}

/** JSON strings are strings in this format as well. The limits are those of a single machine. */
const configuration = (folder: string, port: number, leafPort: number): string =>
  `listen: "127.0.0.1:${port}"
max_payload: 1MB
jetstream {
  store_dir: ${JSON.stringify(join(folder, 'jetstream'))}
  domain: ${DOMAIN}
  max_memory_store: 256MB
  max_file_store: 16GB
}
leafnodes {
  listen: "127.0.0.1:${leafPort}"
}
`;

export interface EventGatewayOptions {
  /** Folder for everything this server keeps; created when absent. */
  readonly directory: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Its configuration, from the address to listen on and the folder for its accounts. */
  readonly configuration: (place: {
    readonly listen: string;
    readonly directory: string;
  }) => string;
}

/**
 * Starts a nats-server on 127.0.0.1 with the given configuration: the event gateway, which is linked
 * with another server and may be started before it.
 *
 * @throws {ServerStartError} when there is no nats-server, or with what it said
 * @throws {AlreadyRunningError} when a living process runs a server on this folder
 */
export const startEventGateway = ({
  directory,
  port,
  configuration,
}: EventGatewayOptions): Promise<LocalServer> =>
  startNatsProcess({
    directory,
    port,
    configuration: (folder, clientPort) =>
      configuration({ listen: `127.0.0.1:${clientPort}`, directory: join(folder, 'accounts') }),
  });

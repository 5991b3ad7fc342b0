import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The fault of a link: nothing gets through, or nothing from the server to the client. */
export type LinkFault = 'cut' | 'deaf';

/** A link to a server that can be cut without either end being told. */
export interface CutLink {
  readonly port: number;
  /** From now on bytes vanish. */
  fault(fault: LinkFault): void;
  /** Bytes get through again; connections that have lost some are closed. */
  mend(): void;
  close(): Promise<void>;
}

/** Passes connections on to a port of this machine, until it is told otherwise. */
export async function startCutLink(targetPort: number): Promise<CutLink> {
  const sockets = new Set<Socket>();
  let present: LinkFault | null = null;
  const pass = (from: Socket, to: Socket, isLost: () => boolean): void => {
    sockets.add(from);
    from.on('data', (bytes) => {
      if (!isLost() && to.writable) to.write(bytes);
    });
    from.on('error', () => from.destroy());
    from.once('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1');
    pass(near, far, () => present === 'cut');
    pass(far, near, () => present !== null);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const dropAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    fault: (fault) => {
      present = fault;
    },
    mend: () => {
      present = null;
      dropAll();
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      dropAll();
      await closed;
    },
  };
}

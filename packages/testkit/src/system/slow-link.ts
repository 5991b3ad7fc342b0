import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A connection to a server that is far away. */
export interface SlowLink {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Passes connections on to a port of this machine, each piece from the client so many milliseconds
 * later. Pieces from the server are passed on at once.
 */
export async function startSlowLink(targetPort: number, milliseconds: number): Promise<SlowLink> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket, other: () => Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      sockets.delete(socket);
      other().destroy();
    });
  };
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1');
    keep(near, () => far);
    keep(far, () => near);
    far.pipe(near);
    near.on('data', (bytes) => setTimeout(() => far.writable && far.write(bytes), milliseconds));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

import { createServer, type Settings } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { closeClient, connect, readClient, windowBytes } from './store-client.ts';

const test = suite('client of the event store');

/** The settings of HTTP/2 with which a client of ours connects to a server that refuses every call. */
async function settingsOfClient(): Promise<Settings> {
  const { promise, resolve } = Promise.withResolvers<Settings>();
  const server = createServer();
  server.on('session', (session) => session.once('remoteSettings', resolve));
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'grpc-status': '12' }, { endStream: true });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', () => listening()));
  const { port } = server.address() as AddressInfo;
  const client = connect(`esdb://127.0.0.1:${port}?tls=false`);
  try {
    const { readable } = readClient(client).readLast();
    const call = await readable;
    call.on('error', () => undefined).resume();
    return await promise;
  } finally {
    await closeClient(client);
    server.close();
  }
}

test('lets the server send ahead of the reader', async () => {
  const { initialWindowSize } = await settingsOfClient();
  assert.is(initialWindowSize, windowBytes);
});

test.run();

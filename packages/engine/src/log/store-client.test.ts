import { createServer, type ServerHttp2Stream, type Settings } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { collect } from './sample-events.ts';
import { closeClient, connect, readClient, windowBytes } from './store-client.ts';

const test = suite('client of the event store');

/** Asks a server that answers every call in one way, and gives what comes of it and the client's settings of HTTP/2. */
async function asked(answer: (stream: ServerHttp2Stream) => void) {
  const { promise: settings, resolve } = Promise.withResolvers<Settings>();
  const server = createServer();
  server.on('session', (session) => session.once('remoteSettings', resolve));
  server.on('stream', answer);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', () => listening()));
  const { port } = server.address() as AddressInfo;
  const client = connect(`esdb://127.0.0.1:${port}?tls=false`);
  try {
    const { readable } = readClient(client).readLast();
    const lists = await collect(await readable).catch(() => []);
    return { lists, settings: await settings };
  } finally {
    await closeClient(client);
    server.close();
  }
}

test('lets the server send ahead of the reader', async () => {
  const { settings } = await asked((stream) => {
    stream.respond({ ':status': 200, 'grpc-status': '12' }, { endStream: true });
  });
  assert.is(settings.initialWindowSize, windowBytes);
});

/** An answer to a read that is sent in pieces as given, a turn of the loop between them. */
const sendPieces = (pieces: readonly Buffer[]) => async (stream: ServerHttp2Stream) => {
  stream.respond(
    { 'content-type': 'application/grpc', 'grpc-encoding': 'gzip' },
    { waitForTrailers: true },
  );
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  for (const piece of pieces) await new Promise((sent) => stream.write(piece, sent));
  stream.end();
};

const framed = (message: Buffer, flag = 0): Buffer => {
  const header = Buffer.from([flag, 0, 0, 0, 0]);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
};

/** A checkpoint at a place below 128, and what is read of it. */
const checkpoint = (at: number): Buffer => Buffer.from([0x1a, 2, 0x08, at]);
const read = (commit: number) => ({ kind: 'checkpoint', commit, prepare: 0 });

test('messages that arrive together are one list, wherever they were cut', async () => {
  const all = Buffer.concat([1, 2, 3].map((at) => framed(checkpoint(at))));
  const { lists } = await asked(sendPieces([all]));
  assert.equal(lists, [[read(1), read(2), read(3)]]);
  for (let cut = 1; cut < all.length; cut += 1) {
    const { lists: parts } = await asked(sendPieces([all.subarray(0, cut), all.subarray(cut)]));
    assert.equal(parts.flat(), [read(1), read(2), read(3)], `cut after ${cut} bytes`);
  }
});

test('messages without content and compressed ones are read as well', async () => {
  const empty = framed(Buffer.alloc(0));
  const plain = framed(checkpoint(1));
  const compressed = framed(gzipSync(checkpoint(2)), 1);
  const other = { kind: 'other' };
  const sent = [
    [[empty], [other]],
    [
      [empty, plain, empty],
      [other, read(1), other],
    ],
    [[compressed], [read(2)]],
    [
      [plain, compressed, plain],
      [read(1), read(2), read(1)],
    ],
  ] as const;
  for (const [messages, expected] of sent) {
    const { lists } = await asked(sendPieces([Buffer.concat(messages)]));
    assert.equal(lists.flat(), expected);
  }
});

test.run();

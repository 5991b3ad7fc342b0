import { once } from 'node:events';
import { connect } from 'node:net';
import { binaryEvent, EventStoreDBClient } from '@eventstore/db-client';
import { status } from '@grpc/grpc-js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from './limits.ts';
import {
  collect,
  numbered,
  openRawClient,
  openTestServer,
  refusal,
  type TestServer,
} from './test-server.ts';

const test = suite<{ store: TestServer }>('robustness');

test.before(async (context) => {
  context.store = await openTestServer();
});
test.after(({ store }) => store.close());

/** Shows that the server still does its work. */
async function stillServes({ server }: TestServer, stream: string): Promise<void> {
  const client = EventStoreDBClient.connectionString(server.connectionString);
  const result = await client.appendToStream(stream, numbered(0));
  assert.is(result.nextExpectedRevision, 0n);
  assert.is((await collect(client.readStream(stream))).length, 1);
  await client.dispose();
}

test('a message beyond the limit of the protocol harms only its own call', async ({ store }) => {
  const data = Buffer.alloc(limits.receiveMessageBytes + 1);
  const event = binaryEvent({ type: 'B', data });
  for (const options of [{}, { credentials: { username: 'a', password: 'b' } }]) {
    const client = EventStoreDBClient.connectionString(store.server.connectionString);
    const error = await refusal(() => client.appendToStream('huge-1', event, options));
    assert.ok(error.type);
    await client.dispose();
  }
  await stillServes(store, 'after-huge');
});

test('bytes that are no message harm only their own call', async ({ store }) => {
  const client = openRawClient(store.server);
  for (const method of ['Read', 'Append', 'BatchAppend', 'Delete', 'Tombstone']) {
    const failed = await new Promise<{ code?: number }>((resolve) => {
      const call = client.makeBidiStreamRequest(
        `/event_store.client.streams.Streams/${method}`,
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
      );
      call.on('error', resolve);
      call.on('data', () => {});
      call.write(Buffer.from('ffffffffffffffff', 'hex'));
      call.end();
    });
    assert.ok(failed.code, method);
  }
  client.close();
  await stillServes(store, 'after-garbage');
});

test('what is outside the subset is unimplemented', async ({ store }) => {
  const client = openRawClient(store.server);
  const failed = await new Promise<{ code?: number } | null>((resolve) => {
    client.makeUnaryRequest(
      '/event_store.client.persistent_subscriptions.PersistentSubscriptions/Create',
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
      Buffer.alloc(0),
      (error) => resolve(error),
    );
  });
  assert.is(failed?.code, status.UNIMPLEMENTED);
  client.close();
});

test('a connection that is not HTTP/2 harms nobody', async ({ store }) => {
  const socket = connect(store.server.port, store.server.host);
  await once(socket, 'connect');
  socket.end('GET / HTTP/1.1\r\n\r\n');
  socket.resume();
  await once(socket, 'close');
  await stillServes(store, 'after-http');
});

test('clients that go away in the middle leave nothing behind', async ({ store }) => {
  await store.client.appendToStream(
    'many-1',
    numbered(...Array.from({ length: 2_000 }, (_, number) => number)),
  );
  for (let times = 0; times < 10; times += 1) {
    const client = EventStoreDBClient.connectionString(store.server.connectionString);
    const reading = client.readStream('many-1');
    const subscription = client.subscribeToAll();
    for (const stream of [reading, subscription]) {
      stream.on('error', () => {});
      await once(stream, 'data');
    }
    // Disposing cancels both while most of the events are still to come.
    await client.dispose();
  }
  await stillServes(store, 'after-leaving');
});

test('gossip names this node as the leader, at the address to dial', async ({ store }) => {
  const { host, port } = store.server;
  const client = EventStoreDBClient.connectionString`esdb+discover://${host}:${port}?tls=false`;
  const result = await client.appendToStream('discovered-1', numbered(0));
  assert.is(result.nextExpectedRevision, 0n);
  await client.dispose();
});

test.run();

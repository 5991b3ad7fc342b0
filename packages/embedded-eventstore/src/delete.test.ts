import {
  ANY,
  BACKWARDS,
  binaryEvent,
  END,
  jsonEvent,
  NO_STREAM,
  STREAM_EXISTS,
} from '@eventstore/db-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  collect,
  numbered,
  openTestServer,
  refusal,
  revisionsOf,
  type TestServer,
} from './test-server.ts';

const test = suite<{ store: TestServer }>('delete and metadata');

test.before(async (context) => {
  context.store = await openTestServer();
});
test.after(({ store }) => store.close());

const typeOf = async (action: () => PromiseLike<unknown>) => (await refusal(action)).type;

test('a soft-deleted stream is not found and goes on where it stopped', async ({ store }) => {
  const { client } = store;
  await client.appendToStream('soft-1', numbered(0, 1, 2));
  const { position } = await client.deleteStream('soft-1', { expectedRevision: 2n });
  assert.is(await typeOf(() => collect(client.readStream('soft-1'))), 'stream-not-found');
  const [last] = await collect(
    client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }),
  );
  assert.equal(last?.event?.position, position);
  assert.is(last?.event?.streamId, '$$soft-1');

  const result = await client.appendToStream('soft-1', numbered(3, 4), {
    expectedRevision: NO_STREAM,
  });
  assert.is(result.nextExpectedRevision, 4n);
  assert.equal(revisionsOf(await collect(client.readStream('soft-1'))), [3, 4]);
  assert.equal((await client.getStreamMetadata('soft-1')).metadata, { truncateBefore: 3 });
  await store.restart();
  assert.equal(revisionsOf(await collect(store.client.readStream('soft-1'))), [3, 4]);
});

const revivals = [
  ['any', ANY],
  ['the exact revision', 1n],
  ['no stream', NO_STREAM],
] as const;
for (const [name, expectedRevision] of revivals) {
  test(`a soft-deleted stream can be continued with ${name}`, async ({ store: { client } }) => {
    const stream = `revive-${name}`;
    await client.appendToStream(stream, numbered(0, 1));
    await client.deleteStream(stream);
    const result = await client.appendToStream(stream, numbered(2), { expectedRevision });
    assert.is(result.nextExpectedRevision, 2n);
    assert.equal(revisionsOf(await collect(client.readStream(stream))), [2]);
    const events = await collect(client.readAll({ direction: BACKWARDS, fromPosition: END }));
    assert.equal(
      events.slice(0, 2).map(({ event }) => event?.streamId),
      [`$$${stream}`, stream],
    );
  });
}

test('a soft-deleted stream does not exist for stream_exists', async ({ store: { client } }) => {
  await client.appendToStream('soft-2', numbered(0));
  await client.deleteStream('soft-2');
  const append = () =>
    client.appendToStream('soft-2', numbered(1), { expectedRevision: STREAM_EXISTS });
  assert.is(await typeOf(append), 'stream-deleted');
});

test('a retry of an event that a soft delete hides has no position', async ({
  store: { client },
}) => {
  const append = () =>
    client.appendToStream('soft-3', numbered(0), { expectedRevision: NO_STREAM });
  await append();
  await client.deleteStream('soft-3');
  const retry = await append();
  assert.is(retry.success, true);
  assert.is(retry.position, undefined);
  assert.is(await typeOf(() => collect(client.readStream('soft-3'))), 'stream-not-found');
});

test('writing metadata revives a soft-deleted stream', async ({ store: { client } }) => {
  await client.appendToStream('soft-4', numbered(0, 1));
  await client.deleteStream('soft-4');
  await client.setStreamMetadata('soft-4', { maxCount: 9, note: 'kept' });
  const { metadata } = await client.getStreamMetadata('soft-4');
  assert.equal(metadata, { truncateBefore: 2, maxCount: 9, note: 'kept' });
  assert.equal(await collect(client.readStream('soft-4')), []);
  await client.appendToStream('soft-4', numbered(2), { expectedRevision: 1n });
  assert.equal(revisionsOf(await collect(client.readStream('soft-4'))), [2]);
});

test('a deletion replaces the metadata there was', async ({ store: { client } }) => {
  await client.appendToStream('soft-5', numbered(0));
  await client.setStreamMetadata('soft-5', { maxCount: 5, note: 'gone' });
  await client.deleteStream('soft-5');
  await client.appendToStream('soft-5', numbered(1));
  assert.equal((await client.getStreamMetadata('soft-5')).metadata, { truncateBefore: 1 });
});

test('a stream without events can only be deleted when it has metadata', async ({
  store: { client },
}) => {
  for (const expectedRevision of [ANY, NO_STREAM] as const) {
    const error = await refusal(() => client.deleteStream('empty-1', { expectedRevision }));
    assert.is(error.type, 'wrong-expected-version');
    assert.is(error.expectedVersion, expectedRevision === ANY ? -2n : -1n);
    assert.is(error.actualVersion, -1n);
  }
  await client.setStreamMetadata('empty-1', { note: 'something' });
  assert.ok((await client.deleteStream('empty-1')).position);
});

test('deletions check the expected revision', async ({ store: { client } }) => {
  await client.appendToStream('check-1', numbered(0, 1));
  for (const operation of ['deleteStream', 'tombstoneStream'] as const) {
    const error = await refusal(() => client[operation]('check-1', { expectedRevision: 0n }));
    assert.is(error.type, 'wrong-expected-version');
    assert.is(error.streamName, 'check-1');
    assert.is(error.expectedVersion, 0n);
    assert.is(error.actualVersion, 1n);
  }
});

test('a name that is not ASCII is percent-encoded in errors', async ({ store: { client } }) => {
  const error = await refusal(() => client.deleteStream('öl-1'));
  assert.is(error.streamName, '%C3%B6l-1');
});

test('a tombstone ends a stream for ever', async ({ store }) => {
  await store.client.appendToStream('hard-1', numbered(0));
  await store.client.setStreamMetadata('hard-1', { maxCount: 3 });
  await store.client.tombstoneStream('hard-1');
  await store.client.tombstoneStream('hard-never-written', { expectedRevision: NO_STREAM });
  for (const restart of [false, true]) {
    if (restart) await store.restart();
    const { client } = store;
    const attempts = (name: string) => [
      () => collect(client.readStream(name)),
      () => client.appendToStream(name, numbered(0)),
      () => client.appendToStream(name, numbered(0), { expectedRevision: NO_STREAM }),
      () => client.deleteStream(name),
      () => client.tombstoneStream(name),
      () => client.setStreamMetadata(name, { maxCount: 1 }),
      () => client.getStreamMetadata(name),
    ];
    for (const name of ['hard-1', 'hard-never-written']) {
      for (const [index, attempt] of attempts(name).entries()) {
        assert.is(await typeOf(attempt), 'stream-deleted', `${name}: attempt ${index}`);
      }
    }
  }
});

test('$all keeps what was deleted', async ({ store: { client } }) => {
  await client.appendToStream('kept-1', numbered(0));
  await client.tombstoneStream('kept-1');
  const events = (await collect(client.readAll())).filter(
    ({ event }) => event?.streamId === 'kept-1',
  );
  assert.equal(
    events.map(({ event }) => event?.type),
    ['Numbered', '$streamDeleted'],
  );
});

test('metadata streams cannot be deleted themselves', async ({ store: { client } }) => {
  await client.setStreamMetadata('own-1', { maxCount: 1 });
  assert.is(await typeOf(() => client.deleteStream('$$own-1')), 'unknown');
  assert.is(await typeOf(() => client.tombstoneStream('$$own-1')), 'unknown');
});

test('shows only the last events that metadata allows', async ({ store: { client } }) => {
  await client.appendToStream('count-1', numbered(0, 1, 2, 3, 4));
  await client.setStreamMetadata('count-1', { maxCount: 2 });
  const read = async (options = {}) =>
    revisionsOf(await collect(client.readStream('count-1', options)));
  assert.equal(await read(), [3, 4]);
  assert.equal(await read({ fromRevision: 1n, maxCount: 1 }), [3]);
  assert.equal(await read({ direction: BACKWARDS, fromRevision: END }), [4, 3]);
  assert.equal(await read({ direction: BACKWARDS, fromRevision: 2n }), []);
  await client.appendToStream('count-1', numbered(5), { expectedRevision: 4n });
  assert.equal(await read(), [4, 5]);
  await client.setStreamMetadata('count-1', { maxCount: 4, truncateBefore: 5 });
  assert.equal(await read(), [5]);
  await client.setStreamMetadata('count-1', { truncateBefore: 6 });
  assert.equal(await read(), []);
  await client.setStreamMetadata('count-1', {});
  assert.equal(await read(), [0, 1, 2, 3, 4, 5]);
});

test('metadata that is not JSON or malformed hides nothing', async ({ store: { client } }) => {
  await client.appendToStream('odd-1', numbered(0, 1));
  const data = Buffer.from('{"$maxCount":1}');
  await client.appendToStream('$$odd-1', binaryEvent({ type: '$metadata', data }));
  assert.is((await collect(client.readStream('odd-1'))).length, 2);
  await client.appendToStream('$$odd-1', jsonEvent({ type: '$metadata', data: 'only a string' }));
  assert.is((await collect(client.readStream('odd-1'))).length, 2);
});

test('a metadata stream shows its last event only', async ({ store: { client } }) => {
  for (const maxCount of [1, 2, 3]) await client.setStreamMetadata('last-1', { maxCount });
  assert.equal(revisionsOf(await collect(client.readStream('$$last-1'))), [2]);
  const { metadata } = await client.getStreamMetadata('last-1');
  assert.equal(metadata, { maxCount: 3 });
});

test.run();

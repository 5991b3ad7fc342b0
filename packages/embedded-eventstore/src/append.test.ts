import {
  ANY,
  binaryEvent,
  type EventData,
  jsonEvent,
  NO_STREAM,
  STREAM_EXISTS,
} from '@eventstore/db-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from './limits.ts';
import {
  collect,
  numbered,
  openTestServer,
  refusal,
  revisionsOf,
  type TestServer,
} from './test-server.ts';

const test = suite<{ store: TestServer }>('append');

test.before(async (context) => {
  context.store = await openTestServer();
});
test.after(({ store }) => store.close());

function bytesOf(value: unknown): number[] {
  if (!(value instanceof Uint8Array)) throw new Error('not bytes');
  return [...value];
}

type Expected = typeof ANY | typeof NO_STREAM | typeof STREAM_EXISTS | bigint;

test('gives revision and position of the last event', async ({ store: { client } }) => {
  const first = await client.appendToStream('position-1', numbered(1, 2, 3));
  const second = await client.appendToStream('position-1', numbered(4));
  assert.is(first.nextExpectedRevision, 2n);
  assert.is(second.nextExpectedRevision, 3n);
  const events = await collect(client.readStream('position-1'));
  assert.equal(events[2]?.event?.position, first.position);
  assert.equal(events[3]?.event?.position, second.position);
  const commits = events.map(({ event }) => event?.position?.commit ?? 0n);
  assert.ok(commits.every((commit, index) => index === 0 || commit > (commits[index - 1] ?? 0n)));
});

test('stores every kind of event as it was given', async ({ store: { client } }) => {
  const events: EventData[] = [
    jsonEvent({ type: 'Json', data: { text: 'ünï 🌍', list: [1, null] }, metadata: { a: 'b' } }),
    jsonEvent({ type: 'Ünïcode', data: 'only text' }),
    jsonEvent({ type: 'BinaryMetadata', data: {}, metadata: new Uint8Array([0, 255]) }),
    binaryEvent({ type: 'Binary', data: Buffer.from([0, 1, 254, 255]) }),
    binaryEvent({ type: 'Empty', data: new Uint8Array() }),
  ];
  const before = Date.now();
  await client.appendToStream('kinds-ü1', events);
  const read = (await collect(client.readStream('kinds-ü1'))).map(({ event }) => event);
  for (const [index, event] of events.entries()) {
    const stored = read[index];
    assert.is(stored?.id, event.id);
    assert.is(stored?.type, event.type);
    assert.is(stored?.streamId, 'kinds-ü1');
    assert.is(stored?.isJson, event.contentType === 'application/json');
    const created = stored?.created.getTime() ?? 0;
    assert.ok(created >= before && created <= Date.now());
  }
  assert.equal(read[0]?.data, { text: 'ünï 🌍', list: [1, null] });
  assert.equal(read[0]?.metadata, { a: 'b' });
  assert.is(read[1]?.data, 'only text');
  assert.is(read[1]?.metadata, undefined);
  assert.equal(bytesOf(read[2]?.metadata), [0, 255]);
  assert.equal(bytesOf(read[3]?.data), [0, 1, 254, 255]);
  assert.equal(bytesOf(read[4]?.data), []);
});

// Passing credentials makes the client use the Append call instead of BatchAppend.
const calls = [
  ['BatchAppend', {}],
  ['Append', { credentials: { username: 'someone', password: 'something' } }],
] as const;

for (const [call, options] of calls) {
  test(`${call}: accepts every expectation that holds`, async ({ store: { client } }) => {
    const stream = `holds-${call}`;
    const append = (number: number, expectedRevision: Expected) =>
      client.appendToStream(stream, numbered(number), { expectedRevision, ...options });
    assert.is((await append(0, NO_STREAM)).nextExpectedRevision, 0n);
    assert.is((await append(1, 0n)).nextExpectedRevision, 1n);
    assert.is((await append(2, STREAM_EXISTS)).nextExpectedRevision, 2n);
    assert.is((await append(3, ANY)).nextExpectedRevision, 3n);
    assert.equal(revisionsOf(await collect(client.readStream(stream))), [0, 1, 2, 3]);
  });

  test(`${call}: says what it expected and what it found`, async ({ store: { client } }) => {
    const stream = `conflict-${call}`;
    const append = (number: number, expectedRevision: Expected) => () =>
      client.appendToStream(stream, numbered(number), { expectedRevision, ...options });
    const early = await refusal(append(0, 0n));
    assert.is(early.type, 'wrong-expected-version');
    assert.is(early.expectedVersion, 0n);
    assert.is(early.actualVersion, 'no_stream');
    const absent = await refusal(append(0, STREAM_EXISTS));
    assert.is(absent.expectedVersion, 'stream_exists');
    await append(0, NO_STREAM)();
    const late = await refusal(append(1, NO_STREAM));
    assert.is(late.expectedVersion, 'no_stream');
    assert.is(late.actualVersion, 0n);
    assert.is(late.streamName, stream);
    const ahead = await refusal(append(1, 5n));
    assert.is(ahead.expectedVersion, 5n);
    assert.is(ahead.actualVersion, 0n);
  });

  test(`${call}: answers a retry like the original`, async ({ store: { client } }) => {
    const stream = `retry-${call}`;
    const append = (expectedRevision: Expected, ...numbers: number[]) =>
      client.appendToStream(stream, numbered(...numbers), { expectedRevision, ...options });
    const original = await append(NO_STREAM, 0, 1);
    assert.equal(await append(NO_STREAM, 0, 1), original);
    assert.equal(await append(ANY, 0, 1), original);
    assert.equal((await append(0n, 1)).position, original.position);
    assert.equal(revisionsOf(await collect(client.readStream(stream))), [0, 1]);
  });

  test(`${call}: writes all events of an append or none`, async ({ store: { client } }) => {
    const stream = `atomic-${call}`;
    await client.appendToStream(stream, numbered(0), options);
    const error = await refusal(() =>
      client.appendToStream(stream, numbered(0, 1, 2), { expectedRevision: NO_STREAM, ...options }),
    );
    assert.is(error.type, 'wrong-expected-version');
    assert.equal(revisionsOf(await collect(client.readStream(stream))), [0]);
  });

  test(`${call}: refuses what is too large`, async ({ store: { client } }) => {
    const stream = `large-${call}`;
    const append = (size: number) => () =>
      client.appendToStream(stream, binaryEvent({ type: 'B', data: Buffer.alloc(size) }), options);
    const error = await refusal(append(limits.appendBytes));
    assert.is(error.type, 'maximum-append-size-exceeded');
    assert.is(error.maxAppendSize, limits.appendBytes);
    // Two bytes less than the limit are left for the type.
    assert.is((await append(limits.appendBytes - 2)()).nextExpectedRevision, 0n);
  });

  test(`${call}: an append without events writes nothing`, async ({ store: { client } }) => {
    const stream = `empty-${call}`;
    const nothing = await client.appendToStream(stream, [], { expectedRevision: ANY, ...options });
    assert.is(nothing.position, undefined);
    assert.is((await refusal(() => collect(client.readStream(stream)))).type, 'stream-not-found');
    await client.appendToStream(stream, numbered(0, 1), options);
    const after = await client.appendToStream(stream, [], { expectedRevision: 1n, ...options });
    assert.is(after.nextExpectedRevision, 1n);
  });

  test(`${call}: refuses names and types that cannot be`, async ({ store: { client } }) => {
    const good = jsonEvent({ type: 'T', data: {} });
    const attempts: readonly (readonly [string, EventData])[] = [
      ['$$', good],
      ['$all', good],
      ['x'.repeat(limits.streamNameBytes + 1), good],
      ['fine', jsonEvent({ type: 'T'.repeat(limits.eventTypeBytes + 1), data: {} })],
      ['fine', jsonEvent({ id: '00000000-0000-0000-0000-000000000000', type: 'T', data: {} })],
    ];
    for (const [stream, event] of attempts) {
      const error = await refusal(() => client.appendToStream(stream, event, options));
      assert.is(error.type, 'unknown', `${stream.slice(0, 10)} ${event.type.slice(0, 10)}`);
    }
  });
}

test('takes names and types of the full length', async ({ store: { client } }) => {
  const name = 'n'.repeat(limits.streamNameBytes);
  const type = 'T'.repeat(limits.eventTypeBytes);
  await client.appendToStream(name, jsonEvent({ type, data: {} }));
  await client.setStreamMetadata(name, { maxCount: 1 });
  const [read] = await collect(client.readStream(name));
  assert.is(read?.event?.type, type);
});

test('keeps many concurrent appends apart and in order', async ({ store: { client } }) => {
  const streams = Array.from({ length: 40 }, (_, index) => `flood-${index}`);
  const results = await Promise.all(
    streams.flatMap((stream, index) =>
      Array.from({ length: 25 }, (_, number) =>
        client.appendToStream(stream, numbered(index * 25 + number), {
          expectedRevision: number === 0 ? NO_STREAM : BigInt(number - 1),
        }),
      ),
    ),
  );
  assert.is(results.length, 1_000);
  for (const [index, stream] of streams.entries()) {
    const numbers = (await collect(client.readStream<never>(stream))).map(
      ({ event }) => (event as { data: { number: number } } | undefined)?.data.number,
    );
    assert.equal(
      numbers,
      Array.from({ length: 25 }, (_, number) => index * 25 + number),
    );
  }
});

test('gives a duplicate that overtakes its original the same answer', async ({
  store: { client },
}) => {
  const append = () =>
    client.appendToStream('overtake-1', numbered(0, 1), { expectedRevision: NO_STREAM });
  const [first, second] = await Promise.all([append(), append()]);
  assert.equal(first, second);
  assert.equal(revisionsOf(await collect(client.readStream('overtake-1'))), [0, 1]);
});

test('recognises retries after a restart', async ({ store }) => {
  const numbers = Array.from({ length: 5 }, (_, index) => index);
  for (const number of numbers) await store.client.appendToStream('restart-1', numbered(number));
  await store.restart();
  const { client } = store;
  for (const number of numbers) {
    const exact: Expected = number === 0 ? NO_STREAM : BigInt(number - 1);
    for (const expectedRevision of [exact, ANY] as const) {
      const result = await client.appendToStream('restart-1', numbered(number), {
        expectedRevision,
      });
      assert.is(result.nextExpectedRevision, BigInt(number));
      assert.ok(result.position);
    }
  }
  assert.equal(revisionsOf(await collect(client.readStream('restart-1'))), numbers);
});

test('with any it remembers the last events only', async ({ store }) => {
  const { client } = store;
  const count = limits.anyWindowEvents;
  const numbers = Array.from({ length: count }, (_, index) => index);
  const any = async (number: number) =>
    (await client.appendToStream('window-1', numbered(number))).nextExpectedRevision;
  await client.appendToStream('window-1', numbered(...numbers));
  assert.is(await any(0), 0n);
  const next = { expectedRevision: BigInt(count - 1) };
  await client.appendToStream('window-1', numbered(count), next);
  assert.is(await any(1), 1n);
  assert.is(await any(0), BigInt(count + 1));
});

test('a deadline that has passed is a time-out and writes nothing', async ({
  store: { client },
}) => {
  const error = await refusal(() =>
    client.appendToStream('deadline-1', numbered(0), { deadline: -1 }),
  );
  assert.is(error.type, 'deadline-exceeded');
  assert.is(
    (await refusal(() => collect(client.readStream('deadline-1')))).type,
    'stream-not-found',
  );
});

test.run();

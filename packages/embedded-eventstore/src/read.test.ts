import { BACKWARDS, END, FORWARDS, jsonEvent, START } from '@eventstore/db-client';
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sharedMessages, streamMessages } from './protocol.ts';
import {
  collect,
  numbered,
  openRawClient,
  openTestServer,
  refusal,
  revisionsOf,
  type TestServer,
} from './test-server.ts';

const test = suite<{ store: TestServer }>('read');

test.before(async (context) => {
  context.store = await openTestServer();
  const { client } = context.store;
  await client.appendToStream('numbers-1', numbered(0, 1, 2, 3, 4));
  await client.appendToStream('letters-1', [
    jsonEvent({ type: 'A', data: {} }),
    jsonEvent({ type: 'B', data: {} }),
  ]);
});
test.after(({ store }) => store.close());

type Options = Parameters<TestServer['client']['readStream']>[1];

const streamReads: readonly (readonly [string, Options, number[]])[] = [
  ['from the start', {}, [0, 1, 2, 3, 4]],
  ['forwards from a revision, inclusive', { fromRevision: 2n }, [2, 3, 4]],
  ['forwards from the last revision', { fromRevision: 4n }, [4]],
  ['forwards from behind the end', { fromRevision: 5n }, []],
  ['forwards from the largest revision', { fromRevision: 2n ** 63n - 1n }, []],
  ['forwards from the end', { fromRevision: END }, []],
  ['a limited number', { maxCount: 2 }, [0, 1]],
  ['a limited number from a revision', { fromRevision: 1n, maxCount: 3 }, [1, 2, 3]],
  ['backwards from the end', { direction: BACKWARDS, fromRevision: END }, [4, 3, 2, 1, 0]],
  ['backwards from a revision', { direction: BACKWARDS, fromRevision: 2n }, [2, 1, 0]],
  ['backwards from behind the end', { direction: BACKWARDS, fromRevision: 99n }, [4, 3, 2, 1, 0]],
  ['backwards from the start', { direction: BACKWARDS, fromRevision: START }, [0]],
  ['the last event', { direction: BACKWARDS, fromRevision: END, maxCount: 1 }, [4]],
];
for (const [description, options, revisions] of streamReads) {
  test(`reads a stream ${description}`, async ({ store: { client } }) => {
    const events = await collect(client.readStream('numbers-1', options));
    assert.equal(revisionsOf(events), revisions);
  });
}

test('says that a stream is not there', async ({ store: { client } }) => {
  for (const direction of [FORWARDS, BACKWARDS] as const) {
    const error = await refusal(() => collect(client.readStream('nothing-1', { direction })));
    assert.is(error.type, 'stream-not-found');
  }
});

test('refuses a count of zero', async ({ store: { client } }) => {
  const error = await refusal(() => collect(client.readStream('numbers-1', { maxCount: 0 })));
  assert.is(error.type, 'unknown');
});

test('reads $all forwards from a position, inclusive', async ({ store: { client } }) => {
  const all = await collect(client.readAll());
  assert.is(all.length, 7);
  for (const [index, { event, commitPosition }] of all.entries()) {
    assert.is(commitPosition, event?.position?.commit);
    const fromPosition = event?.position ?? START;
    const rest = await collect(client.readAll({ fromPosition, maxCount: 3 }));
    assert.equal(
      rest.map((read) => read.event?.id),
      all.slice(index, index + 3).map((read) => read.event?.id),
    );
  }
});

test('reads $all backwards from before a position', async ({ store: { client } }) => {
  const backwards = { direction: BACKWARDS } as const;
  const all = await collect(client.readAll());
  const reversed = await collect(client.readAll({ ...backwards, fromPosition: END }));
  assert.equal(
    reversed.map((read) => read.event?.id),
    all.map((read) => read.event?.id).reverse(),
  );
  for (const [index, { event }] of all.entries()) {
    const fromPosition = event?.position ?? END;
    const earlier = await collect(client.readAll({ ...backwards, fromPosition }));
    assert.equal(
      earlier.map((read) => read.event?.id),
      all
        .slice(0, index)
        .map((read) => read.event?.id)
        .reverse(),
    );
  }
  assert.equal(await collect(client.readAll({ ...backwards, fromPosition: START })), []);
});

test('orders positions by commit, then prepare', async ({ store: { client } }) => {
  const [first, second] = await collect(client.readAll({ maxCount: 2 }));
  const commit = first?.event?.position?.commit ?? 0n;
  const firstOf = async (prepare: bigint) =>
    (await collect(client.readAll({ fromPosition: { commit, prepare }, maxCount: 1 })))[0];
  assert.is((await firstOf(commit - 1n))?.event?.id, first?.event?.id);
  assert.is((await firstOf(commit + 1n))?.event?.id, second?.event?.id);
});

test('reads across many pages', async ({ store: { client } }) => {
  const count = 700;
  await client.appendToStream('long-1', numbered(...Array.from({ length: count }, (_, n) => n)));
  const expected = Array.from({ length: count }, (_, revision) => revision);
  assert.equal(revisionsOf(await collect(client.readStream('long-1'))), expected);
  const backwards = client.readStream('long-1', { direction: BACKWARDS, fromRevision: END });
  assert.equal(revisionsOf(await collect(backwards)), expected.reverse());
});

test('a reader that pauses gets everything', async ({ store: { client } }) => {
  const data = { text: 'x'.repeat(10_000) };
  for (let times = 0; times < 10; times += 1) {
    const events = Array.from({ length: 80 }, () => jsonEvent({ type: 'Huge', data }));
    await client.appendToStream('big-1', events);
  }
  const revisions: number[] = [];
  for await (const { event } of client.readStream('big-1')) {
    revisions.push(Number(event?.revision));
    // A turn of the event loop for each event makes the client slower than the server.
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.is(revisions.length, 800);
  assert.is(revisions.at(-1), 799);
});

test('a reader that leaves takes nothing with it', async ({ store: { client } }) => {
  for (let times = 0; times < 20; times += 1) {
    const stream = client.readStream('big-1');
    for await (const { event } of stream) {
      if (event?.revision === 3n) break;
    }
    await stream.cancel();
  }
  assert.is((await collect(client.readStream('numbers-1'))).length, 5);
});

test('resolves links on request', async ({ store: { client } }) => {
  const link = (target: string) => ({
    ...jsonEvent({ type: '$>', data: {} }),
    contentType: 'application/octet-stream' as const,
    data: Buffer.from(target),
  });
  const targets = ['1@numbers-1', '0@letters-1', '7@numbers-1', '0@nothing-1', 'nonsense'];
  await client.appendToStream('links-1', targets.map(link));
  const plain = await collect(client.readStream('links-1'));
  assert.ok(plain.every(({ event, link: none }) => event?.type === '$>' && none === undefined));
  const resolved = await collect(client.readStream('links-1', { resolveLinkTos: true }));
  assert.equal(
    revisionsOf(resolved.map(({ link: event }) => ({ event }) as never)),
    [0, 1, 2, 3, 4],
  );
  assert.equal(
    resolved.map(({ event }) => event?.type),
    ['Numbered', 'A', undefined, undefined, undefined],
  );
  assert.is(resolved[0]?.commitPosition, resolved[0]?.link?.position?.commit);
});

function readRaw(store: TestServer, options: ReturnType<typeof baseOptions>) {
  const client = openRawClient(store.server);
  const messages: ReadResp[] = [];
  return new Promise<{ messages: ReadResp[]; code: number }>((resolve) => {
    const call = client.read(new streamMessages.ReadReq().setOptions(options));
    const finish = (code: number): void => {
      client.close();
      resolve({ messages, code });
    };
    call.on('data', (message: ReadResp) => messages.push(message));
    call.on('error', (error: { code?: number }) => finish(error.code ?? -1));
    call.on('end', () => finish(0));
  });
}

function baseOptions() {
  const { Options } = streamMessages.ReadReq;
  return new Options().setUuidOption(
    new Options.UUIDOption().setString(new sharedMessages.Empty()),
  );
}

function allFrom(start: 'start' | 'end') {
  const all = new streamMessages.ReadReq.Options.AllOptions();
  return start === 'start'
    ? all.setStart(new sharedMessages.Empty())
    : all.setEnd(new sharedMessages.Empty());
}

function typeFilter(...prefixes: string[]) {
  const { FilterOptions } = streamMessages.ReadReq.Options;
  return new FilterOptions()
    .setEventType(new FilterOptions.Expression().setPrefixList(prefixes))
    .setCount(new sharedMessages.Empty())
    .setCheckpointintervalmultiplier(1);
}

test('counts the matching events of a filtered read', async ({ store }) => {
  for (const [direction, types] of [
    [0, ['A', 'B']],
    [1, ['B', 'A']],
  ] as const) {
    const { messages } = await readRaw(
      store,
      baseOptions()
        .setAll(allFrom(direction === 0 ? 'start' : 'end'))
        .setReadDirection(direction)
        .setCount('2')
        .setFilter(typeFilter('A', 'B')),
    );
    assert.equal(
      messages.map((message) => message.getEvent()?.getEvent()?.getMetadataMap().get('type')),
      types,
    );
  }
});

test('refuses requests that make no sense', async ({ store }) => {
  const none = new sharedMessages.Empty();
  const { Options } = streamMessages.ReadReq;
  const named = (name: string) =>
    new Options.StreamOptions()
      .setStreamIdentifier(new sharedMessages.StreamIdentifier().setStreamName(Buffer.from(name)))
      .setStart(none);
  const senseless = [
    new Options().setAll(allFrom('start')).setCount('1').setNoFilter(none),
    baseOptions().setCount('1').setNoFilter(none),
    baseOptions().setAll(allFrom('start')).setCount('1'),
    baseOptions().setAll(allFrom('start')).setNoFilter(none),
    baseOptions().setAll(new Options.AllOptions()).setCount('1').setNoFilter(none),
    baseOptions().setStream(named('')).setCount('1').setNoFilter(none),
    baseOptions().setStream(named('numbers-1')).setCount('1').setFilter(typeFilter('A')),
    baseOptions()
      .setStream(named('numbers-1').setRevision(String(2n ** 63n)))
      .setCount('1')
      .setNoFilter(none),
    baseOptions()
      .setAll(allFrom('start'))
      .setCount('1')
      .setFilter(typeFilter('A').setCheckpointintervalmultiplier(0)),
    baseOptions()
      .setAll(allFrom('end'))
      .setReadDirection(1)
      .setSubscription(new Options.SubscriptionOptions())
      .setNoFilter(none),
  ];
  for (const [index, options] of senseless.entries()) {
    assert.is((await readRaw(store, options)).code, 3, `request ${index}`);
  }
});

test.run();

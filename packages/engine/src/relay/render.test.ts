import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aggregate, type Stamp } from '@counterfoil/kernel';
import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { createStreams } from '../decide/streams.ts';
import { type PublicEvents, publicEvents } from '../define/public-event.ts';
import { type StoredEvent, StoreUnavailable } from '../log/types.ts';
import { openSnapshotFolder } from '../stream-cache/snapshot-folder.ts';
import { StreamCache } from '../stream-cache/stream-cache.ts';
import { createRenderer } from './render.ts';
import { box, boxEvent, boxPublicEvents, boxStream, chaining } from './test-box.ts';

const test = suite('rendering');

const history = [
  ['Made', { id: 'box1' }],
  ['Filled', { amount: 3 }],
  ['Labelled', { label: 'blue' }],
  ['Filled', { amount: 4 }],
  ['Emptied'],
  ['Watched'],
] as const;

async function storeWith(stream = boxStream('box1')): Promise<MemoryStore> {
  const store = chaining(new MemoryStore());
  await store.append(
    stream,
    history.map((event) => boxEvent(event)),
    -1,
  );
  return store;
}

const bodies = (messages: readonly { readonly body: Uint8Array }[]): unknown[] =>
  messages.map(({ body }) => JSON.parse(new TextDecoder().decode(body)));

const expected = [
  { event_type: 'box.created', box: { id: 'box1', label: '', content: 0 } },
  { event_type: 'box.updated', box: { id: 'box1', label: '', content: 3 } },
  { event_type: 'box.updated', box: { id: 'box1', label: 'blue', content: 3 } },
  { event_type: 'box.updated', box: { id: 'box1', label: 'blue', content: 7 } },
  { event_type: 'box.updated', box: { id: 'box1', label: 'blue', content: 0 } },
  {
    event_type: 'box.content.emptied',
    box: { id: 'box1', label: 'blue', content: 0 },
    content: { id: 'content_box1', lost: 7 },
  },
];

test('every message shows the record as it was at its event', async () => {
  const store = await storeWith();
  const { messages, poison } = await createRenderer(new StreamCache({ store }), [
    boxPublicEvents,
  ]).render(store.log);
  assert.is(poison, null);
  assert.equal(bodies(messages), expected);
});

test('wherever a renderer starts, its messages are the same', async () => {
  const store = await storeWith();
  const whole = await createRenderer(new StreamCache({ store }), [boxPublicEvents]).render(
    store.log,
  );
  for (let start = 0; start < store.log.length; start += 1) {
    const renderer = createRenderer(new StreamCache({ store }), [boxPublicEvents]);
    const events = store.log.slice(start);
    const { messages } = await renderer.render(events);
    const due = whole.messages.filter(({ position }) => position > BigInt(start));
    assert.equal(messages, due);
    // Once more, with states kept that are newer than the events.
    assert.equal((await renderer.render(events)).messages, messages);
  }
});

test('kept states make reading the stream needless', async () => {
  const store = await storeWith();
  const renderer = createRenderer(new StreamCache({ store }), [boxPublicEvents]);
  await renderer.render(store.log.slice(0, 2));
  store.isDown = true;
  const { messages } = await renderer.render(store.log.slice(2));
  assert.equal(bodies(messages), expected.slice(2));
});

/** Counts the events that are read of streams. */
class CountingStore extends MemoryStore {
  read = 0;
  override async *readStream(...[stream, options]: Parameters<MemoryStore['readStream']>) {
    for await (const event of super.readStream(stream, options)) {
      this.read += 1;
      yield event;
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-render-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

test('a long stream is rendered from its snapshot on, and gets one', async () => {
  const store = chaining(new CountingStore());
  const fills = Array.from({ length: 499 }, () => boxEvent(['Filled', { amount: 1 }]));
  await store.append(boxStream('box1'), [boxEvent(['Made', { id: 'box1' }]), ...fills], -1);
  const onError = (error: unknown): void => {
    throw error;
  };
  const snapshots = openSnapshotFolder({ folder, code: 'code', every: 100, onError });
  const whole = await createRenderer(new StreamCache({ store, snapshots }), [
    boxPublicEvents,
  ]).render(store.log.slice(0, 450));
  await snapshots.settled();
  assert.is(store.read, 0, 'a stream that passes by from its beginning is not read');
  assert.is(whole.poison, null);
  const restarted = createRenderer(new StreamCache({ store, snapshots }), [boxPublicEvents]);
  const { messages } = await restarted.render(store.log.slice(460));
  assert.ok(store.read <= 101, `${store.read} events were read`);
  assert.equal(bodies(messages).at(-1), {
    event_type: 'box.updated',
    box: { id: 'box1', label: '', content: 499 },
  });
});

test('what a writer of the process has in memory already is rendered event by event', async () => {
  const store = new CountingStore();
  const streams = createStreams({ store, aggregates: [box] });
  const renderer = createRenderer(streams.cache, [boxPublicEvents]);
  const cause = {
    tenantId: 'tenant_01',
    environmentId: 'env_01',
    actor: { user_id: null, key_id: null },
    correlationId: 'test',
    causationId: 'test',
  };
  const write = (type: string, data: object) =>
    streams
      .writer(box, 'env_01', 'box1')
      .run({ cause, fingerprint: null, expectedRevision: null, decide: () => [{ type, data }] });
  await write('Made', { id: 'box1' });
  await renderer.render(store.log);
  for (const amount of [1, 2, 3]) await write('Filled', { amount });
  store.isDown = true;
  const { messages } = await renderer.render(store.log.slice(1));
  const contents = messages.map(({ body }) => JSON.parse(new TextDecoder().decode(body)).box);
  assert.equal(
    contents.map(({ content }) => content),
    [1, 3, 6],
  );
});

test('events of the engine and of other categories lead to nothing', async () => {
  const store = await storeWith();
  await store.append(boxStream('box1'), [{ ...boxEvent(['Watched']), type: 'Revoked' }], 5);
  await store.append('chest-env_01.chest1', [boxEvent(['Made', { id: 'chest1' }])], -1);
  await store.append(boxStream('box1'), [boxEvent(['Filled', { amount: 1 }])], 6);
  const { messages, poison } = await createRenderer(new StreamCache({ store }), [
    boxPublicEvents,
  ]).render(store.log);
  assert.is(poison, null);
  assert.equal(bodies(messages.slice(expected.length)), [
    { event_type: 'box.updated', box: { id: 'box1', label: 'blue', content: 1 } },
  ]);
});

test('several publicEvents of one aggregate follow each other', async () => {
  const store = await storeWith();
  const more: PublicEvents = {
    ...boxPublicEvents,
    publish: () => [{ type: 'box.seen', resourceId: 'box1', body: {} }],
  };
  const { messages } = await createRenderer(new StreamCache({ store }), [
    boxPublicEvents,
    more,
  ]).render([store.log[4]!]);
  const kinds = messages.map(({ subject, index, count }) => [subject.slice(28), index, count]);
  assert.equal(kinds, [
    ['box.box1.updated', 0, 3],
    ['box.box1.content.emptied', 1, 3],
    ['box.box1.seen', 2, 3],
  ]);
});

test('an event that cannot be rendered stops those after it, not those before', async () => {
  const store = await storeWith();
  const failing: PublicEvents = {
    ...boxPublicEvents,
    publish: (change) => {
      if (change.event.type === 'Labelled') throw new Error('no room on the label');
      return boxPublicEvents.publish(change, {});
    },
  };
  const { messages, poison } = await createRenderer(new StreamCache({ store }), [failing]).render(
    store.log,
  );
  assert.equal(bodies(messages), expected.slice(0, 2));
  assert.match(poison?.message ?? '', /Labelled at box-env_01\.box1@2 .* no room on the label/);
});

test('a stream that cannot be folded stops its own events only from there on', async () => {
  const store = await storeWith();
  await store.append(boxStream('box2'), [boxEvent(['Made', { id: 'box2' }])], -1);
  const unknown = boxEvent(['Filled', { amount: 1 }]);
  const newer = { ...unknown, metadata: { ...unknown.metadata, schema_version: 2 } };
  await store.append(boxStream('box2'), [newer, boxEvent(['Filled', { amount: 2 }])], 0);
  const events = [store.log[0]!, store.log.at(-1)!];
  const { messages, poison } = await createRenderer(new StreamCache({ store }), [
    boxPublicEvents,
  ]).render(events);
  assert.equal(bodies(messages), expected.slice(0, 1));
  assert.match(poison?.message ?? '', /box2@2 .* version 2/);
});

test('a store that cannot be read is no defect of an event', async () => {
  const store = await storeWith();
  store.isDown = true;
  const failure = await createRenderer(new StreamCache({ store }), [boxPublicEvents])
    .render([store.log[3] as StoredEvent])
    .catch((error) => error);
  assert.instance(failure, StoreUnavailable);
});

test('data of an older version is lifted before it is published', async () => {
  const crate = aggregate({
    name: 'crate',
    scope: 'environment',
    events: { Packed: z.object({ kilograms: z.number() }) },
    initial: { kilograms: 0 },
    evolve: (_state, event: { readonly data: { readonly kilograms: number } }) => event.data,
    upcasters: { Packed: [({ grams }: { grams: number }) => ({ kilograms: grams / 1000 })] },
  });
  const crates = publicEvents(
    crate,
    ({ event, after }) => [
      { type: 'crate.packed', resourceId: 'c', body: { data: event.data, crate: after } },
    ],
    { 'crate.packed': { summary: 'A crate is packed', body: z.looseObject({}) } },
  );
  const store = chaining(new MemoryStore());
  const packed = { ...boxEvent(['Watched']), type: 'Packed', data: { grams: 2500 } };
  await store.append('crate-env_01.c', [packed], -1);
  const { messages } = await createRenderer(new StreamCache({ store }), [crates]).render(store.log);
  const data = { kilograms: 2.5 };
  assert.equal(bodies(messages), [{ event_type: 'crate.packed', data, crate: data }]);
});

test('records of the whole tenant have no environment', async () => {
  const store = chaining(new MemoryStore());
  const made = boxEvent(['Made', { id: 'box1' }]);
  const stamp: Pick<Stamp, 'environment_id'> = { environment_id: null };
  await store.append(
    boxStream('box1'),
    [{ ...made, metadata: { ...made.metadata, ...stamp } }],
    -1,
  );
  const { messages } = await createRenderer(new StreamCache({ store }), [boxPublicEvents]).render(
    store.log,
  );
  assert.is(messages[0]?.subject, 'billing.v1.tenant_01.-.box.box1.created');
  assert.is(messages[0]?.headers['ce-source'], '/tenants/tenant_01');
});

test.run();

import { aggregate } from '@counterfoil/kernel';
import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { publicEvents } from '../define/public-event.ts';
import { streamName } from '../log/stream-name.ts';
import { type StoredEvent, StoreUnavailable } from '../log/types.ts';
import { StreamCache, type StreamCacheOptions } from '../stream-cache/stream-cache.ts';
import { createRenderer } from './render.ts';
import { type Box, box, boxEvent, boxPublicEvents, boxStream, chaining } from './test-box.ts';

const test = suite('embedded records');

interface Parcel {
  readonly id: string;
  readonly box_id: string;
}

const events = { Packed: z.object({ id: z.string(), box_id: z.string() }), Moved: z.object({}) };
const evolve = (state: Parcel, event: { readonly type: string; readonly data: object }) =>
  event.type === 'Packed' ? (event.data as Parcel) : state;
const initial: Parcel = { id: '', box_id: '' };

/** Something in a box, which its messages show. */
const parcel = aggregate({ name: 'parcel', scope: 'environment', events, initial, evolve });
/** Names a parcel as its box, and shows it with the box inside. */
const label = aggregate({ name: 'label', scope: 'environment', events, initial, evolve });

const inside = { aggregate: box, view: ({ label: name, content }: Box) => ({ name, content }) };
const parcelInside = {
  aggregate: parcel,
  view: ({ id }: Parcel) => ({ id }),
  embeds: { box: { record: inside, id: ({ box_id }: Parcel) => box_id } },
};
const body = z.looseObject({});
const publishers = [
  boxPublicEvents,
  publicEvents(
    parcel,
    ({ after: { id } }, embedded) => [
      { type: 'parcel.moved', resourceId: id, body: { parcel: id, ...embedded } },
    ],
    { 'parcel.moved': { summary: 'A parcel is moved', body } },
    { box: { record: inside, id: ({ after }) => after.box_id } },
  ),
  publicEvents(
    label,
    ({ after: { id } }, embedded) => [{ type: 'label.moved', resourceId: id, body: embedded }],
    { 'label.moved': { summary: 'A label is moved', body } },
    { parcel: { record: parcelInside, id: ({ after }) => after.box_id } },
  ),
];

/** A store that counts the reads of each stream. */
class CountingStore extends MemoryStore {
  readonly reads = new Map<string, number>();
  override readStream(...[stream, options]: Parameters<MemoryStore['readStream']>) {
    this.reads.set(stream, (this.reads.get(stream) ?? 0) + 1);
    return super.readStream(stream, options);
  }
}

const streamOf = (category: string, id: string) => streamName({ category, scope: 'env_01', id });

function storeOfParcels() {
  const store = chaining(new CountingStore());
  const ends = new Map<string, number>();
  const append = async (stream: string, ...added: ReturnType<typeof boxEvent>[]) => {
    const end = ends.get(stream) ?? -1;
    await store.append(stream, added, end);
    ends.set(stream, end + added.length);
  };
  const named = (type: string, data: object) => ({ ...boxEvent(['Watched']), type, data });
  return {
    store,
    onBox: (id: string, ...added: Parameters<typeof boxEvent>[0][]) =>
      append(boxStream(id), ...added.map((event) => boxEvent(event))),
    pack: (id: string, box_id: string, category = 'parcel') =>
      append(streamOf(category, id), named('Packed', { id, box_id })),
    move: (id: string, category = 'parcel') => append(streamOf(category, id), named('Moved', {})),
  };
}

/** A history in which boxes change before, between and after the events of what lies in them. */
async function history() {
  const made = storeOfParcels();
  const { onBox, pack, move } = made;
  await pack('early', 'box1');
  await onBox('box1', ['Made', { id: 'box1' }], ['Filled', { amount: 1 }]);
  await onBox('box2', ['Made', { id: 'box2' }]);
  await pack('p1', 'box1');
  await pack('l1', 'p1', 'label');
  await onBox('box1', ['Labelled', { label: 'blue' }]);
  await move('p1');
  await pack('p2', 'box2');
  await move('l1', 'label');
  await onBox('box1', ['Emptied'], ['Filled', { amount: 5 }]);
  await move('early');
  await pack('nowhere', 'box9');
  await onBox('box2', ['Filled', { amount: 2 }]);
  await move('l1', 'label');
  await move('p2');
  await onBox('box1', ['Labelled', { label: 'red' }]);
  return made;
}

const rendererOf = (store: MemoryStore, options: Partial<StreamCacheOptions> = {}) =>
  createRenderer(new StreamCache({ store, ...options }), publishers);

const textOf = ({ body: bytes }: { readonly body: Uint8Array }) => new TextDecoder().decode(bytes);

test('a message shows the other record as it was at its event', async () => {
  const { store } = await history();
  const { messages, poison } = await rendererOf(store).render(store.log);
  assert.is(poison, null);
  const told = messages.map((message) => JSON.parse(textOf(message)));
  const boxes = { empty: { name: '', content: 0 }, blue: { name: 'blue', content: 1 } };
  assert.equal(
    told
      .filter(({ event_type }) => event_type !== 'box.updated' && event_type !== 'box.created')
      .filter(({ event_type }) => event_type !== 'box.content.emptied')
      .map(({ event_type: _type, ...rest }) => rest),
    [
      { parcel: 'early' },
      { parcel: 'p1', box: { name: '', content: 1 } },
      { parcel: { id: 'p1', box: { name: '', content: 1 } } },
      { parcel: 'p1', box: boxes.blue },
      { parcel: 'p2', box: boxes.empty },
      { parcel: { id: 'p1', box: boxes.blue } },
      { parcel: 'early', box: { name: 'blue', content: 5 } },
      { parcel: 'nowhere' },
      { parcel: { id: 'p1', box: { name: 'blue', content: 5 } } },
      { parcel: 'p2', box: { name: '', content: 2 } },
    ],
  );
});

/** The messages about events from a place on, taken so many at once. */
async function rendered(
  renderer: ReturnType<typeof createRenderer>,
  log: readonly StoredEvent[],
  atOnce: number,
): Promise<readonly string[]> {
  const texts: string[] = [];
  for (let first = 0; first < log.length; first += atOnce) {
    const { messages, poison } = await renderer.render(log.slice(first, first + atOnce));
    assert.is(poison, null);
    texts.push(...messages.map((message) => `${message.id} ${textOf(message)}`));
  }
  return texts;
}

test('wherever a relay starts and however much it takes at once, its messages are the same', async () => {
  const { store } = await history();
  const whole = await rendererOf(store).render(store.log);
  for (let start = 0; start < store.log.length; start += 1) {
    const due = whole.messages
      .filter(({ position }) => position > BigInt(start))
      .map((message) => `${message.id} ${textOf(message)}`);
    for (const atOnce of [1, 2, 3, 7, 100]) {
      // Streams in memory that are newer than the place, none, and so few that each is read anew.
      const kept = new StreamCache({ store });
      await createRenderer(kept, publishers).render(store.log);
      const renderers = [
        createRenderer(kept, publishers),
        rendererOf(store),
        rendererOf(store, { idleStreams: 1 }),
      ];
      for (const renderer of renderers) {
        assert.equal(await rendered(renderer, store.log.slice(start), atOnce), due);
      }
    }
  }
});

test('a thousand events of parcels in one box read the box once, changes of it between them or not', async () => {
  const { store, onBox, pack, move } = storeOfParcels();
  await onBox('box1', ['Made', { id: 'box1' }]);
  const first = store.log.length;
  for (let parcels = 0; parcels < 100; parcels += 1) await pack(`p${parcels}`, 'box1');
  for (let moves = 0; moves < 900; moves += 1) {
    await move(`p${moves % 100}`);
    if (moves % 200 === 0) await onBox('box1', ['Filled', { amount: 1 }]);
  }
  const texts = await rendered(rendererOf(store), store.log.slice(first), 64);
  assert.is(texts.filter((text) => text.includes('"box":{"name"')).length, 1_000);
  // One to know it, and one because it has changed since.
  assert.ok((store.reads.get(boxStream('box1')) ?? 0) <= 2);
});

test('records that many events of one batch need for the first time are read once each', async () => {
  const { store, onBox, pack } = storeOfParcels();
  for (const id of ['box1', 'box2']) await onBox(id, ['Made', { id }]);
  for (let parcels = 0; parcels < 50; parcels += 1)
    await pack(`p${parcels}`, `box${1 + (parcels % 2)}`);
  await rendererOf(store).render(store.log.slice(2));
  assert.equal(
    ['box1', 'box2'].map((id) => store.reads.get(boxStream(id))),
    [1, 1],
  );
});

test('what has not happened yet at the event is not shown, however much later it is published', async () => {
  const { store, pack, onBox } = storeOfParcels();
  await pack('p1', 'box1');
  const log = [...store.log];
  await onBox('box1', ['Made', { id: 'box1' }]);
  const { messages } = await rendererOf(store).render(log);
  assert.equal(
    messages.map((message) => JSON.parse(textOf(message))),
    [{ event_type: 'parcel.moved', parcel: 'p1' }],
  );
});

test('a record that cannot be folded stops what shows it; a store that is away is no defect', async () => {
  const { store, onBox, pack } = storeOfParcels();
  await onBox('box1', ['Made', { id: 'box1' }]);
  await pack('p0', 'box2');
  await pack('p1', 'box1');
  const altered = store.log[0] as { data: unknown };
  altered.data = { id: 'another' };
  const { messages, poison } = await rendererOf(store).render(store.log.slice(1));
  assert.is(messages.length, 1);
  assert.match(
    poison?.message ?? '',
    /parcel-env_01\.p1@0 cannot be published: box-env_01\.box1@0/,
  );
  store.isDown = true;
  const failure = await rendererOf(store)
    .render(store.log.slice(1))
    .catch((error) => error);
  assert.instance(failure, StoreUnavailable);
});

test.run();

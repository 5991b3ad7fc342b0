import { aggregate, type EventOf, type Problem } from '@counterfoil/kernel';
import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import type { Cause, RawEvent } from '../decide/command.ts';
import { createStreams, type Streams } from '../decide/streams.ts';

const test = suite('references between records');

const shelfEvents = { ShelfBuilt: z.object({}), ShelfRemoved: z.object({}) };
type Shelf = 'there' | 'removed' | null;

const shelf = aggregate({
  name: 'shelf',
  scope: 'environment',
  events: shelfEvents,
  initial: null as Shelf,
  evolve: (_state, { type }): Shelf => (type === 'ShelfBuilt' ? 'there' : 'removed'),
  isReferable: (state) => state === 'there',
  isRemoved: (state) => state === 'removed',
});

const bookEvents = { BookPut: z.object({ shelf: z.string() }), BookTaken: z.object({}) };

const book = aggregate({
  name: 'book',
  scope: 'environment',
  events: bookEvents,
  initial: null as string | null,
  evolve: (_state, event: EventOf<typeof bookEvents>) =>
    event.type === 'BookPut' ? event.data.shelf : null,
  refersTo: (state) => (state === null ? [] : [{ category: 'shelf', id: state, what: 'shelf' }]),
});

/** A place on a shelf that only one label can have. */
const label = aggregate({
  name: 'label',
  scope: 'environment',
  events: { LabelPut: z.object({}) },
  initial: false,
  evolve: () => true,
  refersTo: (isPut) => (isPut ? [{ category: 'shelf', id: 'a', what: 'shelf' }] : []),
  unique: (isPut) => (isPut ? [{ name: 'place', value: 'a', problem: 'It has a label.' }] : []),
});

const cause: Cause = {
  tenantId: 'tenant_1',
  environmentId: 'env_1',
  actor: { user_id: null, key_id: null } as Cause['actor'],
  correlationId: 'test',
  causationId: 'test',
};

const processOver = (store: MemoryStore): Streams =>
  createStreams({ store, aggregates: [shelf, book, label], idleStreams: 1_000 });

const run = (
  streams: Streams,
  of: typeof shelf | typeof book | typeof label,
  id: string,
  event: RawEvent,
) =>
  streams
    .writer(of, 'env_1', id)
    .run({ cause, fingerprint: null, expectedRevision: null, decide: () => [event] });
const build = (streams: Streams) => run(streams, shelf, 'a', { type: 'ShelfBuilt', data: {} });
const remove = (streams: Streams) => run(streams, shelf, 'a', { type: 'ShelfRemoved', data: {} });
const put = (streams: Streams, id: string) =>
  run(streams, book, id, { type: 'BookPut', data: { shelf: 'a' } });
const take = (streams: Streams, id: string) =>
  run(streams, book, id, { type: 'BookTaken', data: {} });

const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    ({ code }: Problem) => code,
  );

/** Books that stand on a shelf which is no longer there, by the log. */
async function hanging(store: MemoryStore): Promise<number> {
  const streams = processOver(store);
  const isGone = (await streams.writer<Shelf>(shelf, 'env_1', 'a').current()).state === 'removed';
  const books = new Set(
    store.log.flatMap(({ stream }) => (stream.startsWith('book-') ? [stream.split('.')[1]] : [])),
  );
  let count = 0;
  for (const id of books) {
    const { state } = await streams.writer<string | null>(book, 'env_1', id ?? '').current();
    if (isGone && state !== null) count += 1;
  }
  return count;
}

test('what something refers to stays, and goes when nothing does any more', async () => {
  const store = new MemoryStore();
  const streams = processOver(store);
  await build(streams);
  await put(streams, '1');
  assert.is(await outcomeOf(remove(streams)), 'invalid_operation');
  await take(streams, '1');
  assert.is(await outcomeOf(remove(streams)), 'done');
  assert.is(await outcomeOf(put(streams, '1')), 'invalid_operation');
  assert.is(await outcomeOf(put(streams, '2')), 'invalid_operation');
});

test('nothing refers to what was never there', async () => {
  assert.is(await outcomeOf(put(processOver(new MemoryStore()), '1')), 'invalid_operation');
});

test('a reference that stays needs no other claim', async () => {
  const store = new MemoryStore();
  const streams = processOver(store);
  await build(streams);
  await put(streams, '1');
  await put(streams, '1');
  assert.is(store.log.filter(({ type }) => type === 'ReferenceClaimed').length, 1);
});

test('what is refused because another has its unique value leaves nothing with the record', async () => {
  const store = new MemoryStore();
  const streams = processOver(store);
  await build(streams);
  const putLabel = (id: string) =>
    outcomeOf(run(streams, label, id, { type: 'LabelPut', data: {} }));
  assert.is(await putLabel('1'), 'done');
  const before = store.log.length;
  for (const id of ['2', '3', '4']) assert.is(await putLabel(id), 'already_exists');
  assert.is(store.log.length, before);
});

test('64 that begin to refer to a record against its removal, in several processes', async () => {
  const seen = new Set<string>();
  for (let round = 0; round < 40; round += 1) {
    const store = new MemoryStore();
    const processes = [processOver(store), processOver(store), processOver(store)];
    const [first] = processes;
    assert.ok(first);
    await build(first);
    const asked = Array.from({ length: 64 }, (_, index) =>
      outcomeOf(put(processes[index % 3] ?? first, String(index))),
    );
    // The removal comes at another moment in every round.
    for (let turn = 0; turn < round; turn += 1) await new Promise(setImmediate);
    const removed = await outcomeOf(remove(processes[round % 3] ?? first));
    const made = await Promise.all(asked);
    assert.is(await hanging(store), 0, `round ${round}`);
    for (const outcome of made) assert.ok(['done', 'invalid_operation'].includes(outcome), outcome);
    if (removed === 'done') assert.not.ok(made.includes('done'));
    seen.add(removed);
  }
  assert.equal([...seen].sort(), ['done', 'invalid_operation']);
});

/** Does something right before the first append of an event of a type reaches the log. */
function beforeAppendOf(store: MemoryStore, type: string, work: () => Promise<unknown>): void {
  const append = store.append.bind(store);
  let isDone = false;
  store.append = async (stream, events, revision) => {
    if (!isDone && events.some((event) => event.type === type)) {
      isDone = true;
      await work();
    }
    return append(stream, events, revision);
  };
}

test('a reference that is written while its record is being removed comes too late', async () => {
  const store = new MemoryStore();
  const [one, other] = [processOver(store), processOver(store)];
  await build(one);
  let removed = '';
  beforeAppendOf(store, 'BookPut', async () => {
    removed = await outcomeOf(remove(other));
  });
  assert.is(await outcomeOf(put(one, '1')), 'invalid_operation');
  assert.equal([removed, await hanging(store)], ['done', 0]);
});

test('a removal that is written while something begins to refer comes too late', async () => {
  const store = new MemoryStore();
  const [one, other] = [processOver(store), processOver(store)];
  await build(one);
  let made = '';
  beforeAppendOf(store, 'ShelfRemoved', async () => {
    made = await outcomeOf(put(other, '1'));
  });
  assert.is(await outcomeOf(remove(one)), 'invalid_operation');
  assert.equal([made, await hanging(store)], ['done', 0]);
});

test('a removal that others overtake again and again comes to an end', async () => {
  const store = new MemoryStore();
  const [one, other] = [processOver(store), processOver(store)];
  await build(one);
  const read = store.readStream.bind(store);
  let looks = 0;
  store.readStream = async function* (stream, options) {
    yield* read(stream, options);
    // Whoever looks at all claims reads the stream from its first event.
    if (!stream.startsWith('shelf-') || options !== undefined || looks > 200) return;
    looks += 1;
    await build(other);
  };
  assert.is(await outcomeOf(remove(one)), 'service_unavailable');
  assert.ok(looks <= 200, `${looks} looks`);
  store.readStream = read;
  assert.is(await outcomeOf(remove(one)), 'done');
});

test('a claim whose process has died keeps nothing in use, and cannot come back', async () => {
  const store = new MemoryStore();
  const streams = processOver(store);
  await build(streams);
  let appends = 1;
  store.fate = () => {
    appends -= 1;
    return appends >= 0 ? 'written' : 'unavailable';
  };
  assert.is(await outcomeOf(put(streams, '1')), 'service_unavailable');
  store.fate = () => 'written';
  const next = processOver(store);
  assert.is(await outcomeOf(remove(next)), 'done');
  assert.ok(
    store.log.some(({ type, stream }) => type === 'ClaimRevoked' && stream.includes('book')),
  );
  assert.is(await outcomeOf(put(streams, '1')), 'invalid_operation');
  assert.is(await hanging(store), 0);
});

test.run();

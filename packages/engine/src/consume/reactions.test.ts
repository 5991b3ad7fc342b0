import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RecentWrites } from '../decide/read-your-writes.ts';
import { RequestRunner } from '../decide/request-run.ts';
import type { Principal, Reader } from '../define/context.ts';
import { type Reaction, reaction } from '../define/reaction.ts';
import { UnreadableEvent } from '../log/incoming-event.ts';
import type { EventStore, LogItem } from '../log/types.ts';
import { createLog } from '../operations/log.ts';
import type { ReactionPlace } from './reaction-place.ts';
import { RunningReaction } from './running-reaction.ts';
import { environmentId, order, orders, packing, tenantId } from './test-orders.ts';

const test = suite('reactions');

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits until something comes true, which needs no time, only turns. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await turn();
}

/** A log in memory that can be followed for ever. */
class LiveStore extends MemoryStore {
  isUnreadable = false;

  override async *follow({
    prefixes,
    after,
    signal,
  }: Parameters<EventStore['follow']>[0]): AsyncIterable<readonly LogItem[]> {
    let position = await after();
    while (!signal.aborted) {
      if (this.isUnreadable) throw new UnreadableEvent('order-env_1.a', 3, 'it is no JSON');
      const upTo = await this.head();
      const items: LogItem[] = [];
      for await (const event of this.readLog({ prefixes, after: position, upTo })) {
        items.push({ kind: 'event', event });
      }
      if (upTo > position) items.push({ kind: 'checkpoint', position: upTo });
      position = upTo;
      if (items.length > 0) yield items;
      else await turn();
    }
  }
}

const log = createLog({ level: 'silent', name: 'test' });
const nothing = {} as Reader;

/** A world of orders, whose reaction can be stopped and started again. */
function world() {
  const store = new LiveStore();
  const saved = new Map<string, string>();
  const started: { running: Promise<void>; stopping: AbortController }[] = [];
  const kept = (place: ReactionPlace): string =>
    JSON.stringify([String(place.position), [...place.heldBack]]);
  const places = {
    load: async (name: string) => {
      const text = saved.get(name);
      if (text === undefined) return null;
      const [position, heldBack] = JSON.parse(text);
      return { position: BigInt(position), heldBack: new Map(heldBack) } as ReactionPlace;
    },
    save: async (name: string, place: ReactionPlace) => void saved.set(name, kept(place)),
    recordsOf: async () =>
      ['a', 'b'].map((id) => ({ id, tenant_id: tenantId, environment_id: environmentId })),
    close: async () => undefined,
  };
  const start = (given: Reaction): RunningReaction => {
    const stopping = new AbortController();
    const tools = {
      store,
      streams: orders(store).streams,
      places,
      reader: () => nothing,
      projected: { position: () => 0n, waitFor: () => Promise.resolve(true) },
      isActive: () => true,
      log,
      retry: { firstMilliseconds: 1, lastMilliseconds: 1 },
      onHandled: () => undefined,
    };
    const running = new RunningReaction(tools, given);
    started.push({ running: running.run(stopping.signal), stopping });
    return running;
  };
  const stop = async (): Promise<void> => {
    for (const { stopping } of started) stopping.abort();
    await Promise.all(started.splice(0).map(({ running }) => running));
  };
  /** Resolves when a reaction has handled everything that there is. */
  const level = async (running: RunningReaction): Promise<void> => {
    const head = await store.head();
    await until(() => running.place.position >= head);
  };
  return { store, saved, start, stop, level, orders: orders(store) };
}

test('each event is handled once and in order, however often its reaction starts over', async () => {
  const { store, saved, start, stop, orders } = world();
  await orders.place('a');
  await orders.extend('a');
  start(packing());
  await orders.place('b');
  const packed = (id: string) => orders.packed(id).catch(() => []);
  await until(async () => (await packed('a')).length + (await packed('b')).length === 3);
  assert.equal([await orders.packed('a'), await orders.packed('b')], [[0, 1], [0]]);
  await stop();
  const events = store.log.length;
  saved.clear();
  const handled: string[] = [];
  start(packing(async (id, revision) => void handled.push(`${id}${revision}`)));
  await until(() => handled.length === 3);
  await stop();
  assert.is(store.log.length, events, 'a repetition adds nothing');
});

test('after a stop it goes on where it was', async () => {
  const { start, stop, level, orders } = world();
  await orders.place('a');
  await level(start(packing()));
  await stop();
  await orders.extend('a');
  const handled: number[] = [];
  await level(start(packing(async (_id, revision) => void handled.push(revision))));
  await stop();
  assert.equal(handled, [1]);
});

test('a record that fails is held back alone, across a restart, and goes on when it is mended', async () => {
  const { start, stop, level, orders } = world();
  let isBroken = true;
  const fragile = packing(async (id, revision) => {
    if (isBroken && id === 'a' && revision === 1) throw new Error('out of boxes');
  });
  for (const id of ['a', 'b']) {
    await orders.place(id);
    await orders.extend(id);
    await orders.extend(id);
  }
  const first = start(fragile);
  await level(first);
  assert.equal([await orders.packed('a'), await orders.packed('b')], [[0], [0, 1, 2]]);
  assert.equal(
    [...first.place.heldBack],
    [['order-env_1.a', { revision: 1, error: 'out of boxes' }]],
  );
  await stop();
  const second = start(fragile);
  await orders.extend('a');
  await level(second);
  assert.equal(await orders.packed('a'), [0]);
  isBroken = false;
  await until(() => second.place.heldBack.size === 0);
  await orders.extend('a');
  await level(second);
  assert.equal(await orders.packed('a'), [0, 1, 2, 3, 4]);
  await stop();
});

test('with one record more than may be held back, the reaction waits', async () => {
  const { start, stop, level, orders } = world();
  const handled = new Set<string>();
  let isBroken = true;
  const count = async ({ aggregate_id }: { readonly aggregate_id: string }): Promise<void> => {
    if (isBroken) throw new Error('out of paper');
    handled.add(aggregate_id);
  };
  await Promise.all(Array.from({ length: 1_001 }, (_, number) => orders.place(`o${number}`)));
  const running = start(reaction(order, { name: 'counting', on: { OrderPlaced: count } }));
  await until(() => running.place.heldBack.size === 1_000);
  for (let turns = 0; turns < 100; turns += 1) await turn();
  assert.ok(running.place.position <= 1_000n, 'it does not go past the one without room');
  isBroken = false;
  await level(running);
  await until(() => running.place.heldBack.size === 0);
  assert.is(handled.size, 1_001);
  await stop();
});

test('a log that cannot be read on is read again until it can, and that is told', async () => {
  const { store, start, stop, level, orders } = world();
  store.isUnreadable = true;
  const running = start(packing());
  await until(() => running.failure !== null);
  assert.match(running.failure ?? '', /order-env_1.a@3/);
  await orders.place('a');
  store.isUnreadable = false;
  await level(running);
  assert.is(running.failure, null);
  await stop();
});

test('one that starts now does not see what was before', async () => {
  const { start, stop, level, orders } = world();
  await orders.place('a');
  const seen: number[] = [];
  const note = async ({ revision }: { readonly revision: number }) => void seen.push(revision);
  const watching = reaction(order, {
    name: 'watching',
    on: { OrderExtended: note, OrderPlaced: note },
    start: 'now',
  });
  await level(start(watching));
  await orders.extend('a');
  await until(() => seen.length === 1);
  await stop();
  assert.equal(seen, [1]);
});

test('from time to time the outside is made to agree with all records', async () => {
  const { start, stop, orders } = world();
  await orders.place('a');
  await orders.place('b');
  await orders.extend('b');
  const seen: (readonly number[])[] = [];
  const reconciliation = {
    table: {} as never,
    everyMilliseconds: 1,
    run: async (states: readonly number[]) => {
      seen.push([...states].sort());
      if (seen.length === 1) throw new Error('away');
    },
  };
  start(reaction(order, { name: 'agreeing', on: {}, reconciliation }));
  await until(() => seen.length >= 3);
  await stop();
  // Between two looks at it there may be more of them than one.
  assert.equal(
    seen,
    seen.map(() => [1, 2]),
  );
});

test('who waits for a reaction learns that an event is handled, and what was written for it', async () => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const { store, start, stop, orders } = world();
  const running = start(packing(() => opened));
  await orders.place('a');
  const placedAt = await store.head();
  assert.is(await running.reached.waitFor(placedAt, 1), false, 'it is being handled');
  open();
  assert.is(await running.reached.waitFor(placedAt, 60_000), true);
  assert.is(running.written, BigInt(store.log.length));
  assert.ok(running.written > placedAt);
  await stop();
});

test('a request that carries out at once leaves its reaction nothing to do', async () => {
  const { store, start, stop, level, orders } = world();
  const principal = { tenantId, environmentId, userId: 'user_1', keyId: 'secret_1' } as Principal;
  const projected = { position: () => 0n, waitFor: () => Promise.resolve(true) };
  const options = {
    streams: orders.streams,
    readSide: { reader: () => nothing, projected },
    recentWrites: new RecentWrites(),
    now: Date.now,
  };
  const request = new RequestRunner(options, {
    ...{ principal, requestId: 'req_1', receivedAt: '2026-01-01T00:00:00.000Z' as never },
    ...{ route: 'POST /orders', operation: 'POST /orders', idempotencyKey: null, fields: {} },
    ...{ ifMatch: null, minimumPosition: null },
  });
  const outcome = await request.execute(order, 'a', () => [
    { type: 'OrderPlaced', data: { items: 1 } },
    { type: 'OrderExtended', data: {} },
  ]);
  await request.carryOut(packing(), 'a', outcome);
  assert.equal(await orders.packed('a'), [0, 1]);
  assert.equal(request.position, BigInt(store.log.length));
  assert.is(store.log.at(-1)?.metadata.actor.user_id, 'user_1');
  await level(start(packing()));
  await stop();
  assert.equal(await orders.packed('a'), [0, 1]);
  const failing = packing(() => Promise.reject(new Error('out of boxes')));
  await request.carryOut(failing, 'a', outcome);
});

test.run();

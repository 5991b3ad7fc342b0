import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  kill,
  startWorld,
  statement,
  type TestLog,
  type TestWorld,
  until,
} from '../projection/test-world.ts';
import { orders } from './test-orders.ts';

const test = suite('reactions that are killed');

let world: TestWorld;
let log: TestLog;
let database: string;
const children = new Set<ChildProcess>();

test.before(async () => {
  world = await startWorld();
});
test.before.each(async () => {
  [log, database] = [await world.log(), await world.database()];
});
test.after.each(async () => {
  for (const child of children) await kill(child);
  children.clear();
});
test.after(() => world.close());

const program = fileURLToPath(new URL('./test-reaction-process.ts', import.meta.url));

/** Starts a process with the reaction, which halts for ever at a step, or fails there. */
async function start(halt = ''): Promise<ChildProcess> {
  const child = fork(program, [log.server.connectionString, database, halt]);
  children.add(child);
  await once(child, 'message');
  return child;
}

/** Resolves when the process has come to a step. */
const reached = (child: ChildProcess, step: string): Promise<void> =>
  new Promise((resolve) => {
    child.on('message', (message) => {
      if (message === step) resolve();
    });
  });

/** The records held back, as the database has them. */
async function heldBack(): Promise<Record<string, { revision: number; error: string }>> {
  const text = 'select held_back from counterfoil.reaction';
  const rows = await statement<{ held_back: Record<string, never> }>(database, text);
  return rows[0]?.held_back ?? {};
}

/** The packed revisions of an order; null while a parcel is half packed. */
const packedBy = (shop: ReturnType<typeof orders>, id: string) => shop.packed(id).catch(() => null);

for (const [place, step] of [
  ['between an event and its reaction', 'before a@0'],
  ['in the middle of a reaction', 'after a@0'],
] as const) {
  test(`killed ${place}, it is done once and as a whole by the next process`, async () => {
    const shop = orders(log.store);
    const first = await start(step);
    const halted = reached(first, step);
    await shop.place('a');
    await halted;
    await kill(first);
    await start();
    await until('the parcel is packed', async () => (await packedBy(shop, 'a'))?.length === 1);
    assert.equal(await shop.packed('a'), [0]);
  });
}

test('kills at any time lose and repeat nothing', async () => {
  const shop = orders(log.store);
  const ids = Array.from({ length: 24 }, (_, number) => `o${number}`);
  let child = await start();
  for (const [number, id] of ids.entries()) {
    await shop.place(id);
    await Promise.all([shop.extend(id), number % 2 === 0 ? shop.extend(ids[0] ?? id) : null]);
    if (number % 8 !== 7) continue;
    await kill(child);
    child = await start();
  }
  await until('all is packed', async () => {
    const packed = await Promise.all(ids.map((id) => packedBy(shop, id)));
    return packed.every((revisions, number) => revisions?.length === (number === 0 ? 14 : 2));
  });
  for (const id of ids.slice(1)) assert.equal(await shop.packed(id), [0, 1]);
});

test('two processes at once do together what one would do', async () => {
  const shop = orders(log.store);
  await Promise.all([start(), start()]);
  const ids = Array.from({ length: 50 }, (_, number) => `o${number}`);
  await Promise.all(ids.map((id) => shop.place(id)));
  await Promise.all(ids.map((id) => shop.extend(id)));
  await until('all is packed', async () => {
    const packed = await Promise.all(ids.map((id) => packedBy(shop, id)));
    return packed.every((revisions) => revisions?.length === 2);
  });
  // Both have come to the end, so nobody has anything left to do.
  await shop.place('last');
  await until('the last is packed', async () => (await packedBy(shop, 'last'))?.length === 1);
  for (const id of ids) assert.equal(await shop.packed(id), [0, 1]);
});

test('a record that fails is held back alone, also for the next process, until it is mended', async () => {
  const shop = orders(log.store);
  const failing = await start('fail before a@1');
  await shop.place('a');
  await shop.extend('a');
  await shop.place('b');
  await until('b is packed', async () => (await packedBy(shop, 'b'))?.length === 1);
  const stream = 'order-env_1.a';
  await until('it is known', async () => (await heldBack())[stream] !== undefined);
  assert.equal(await heldBack(), { [stream]: { revision: 1, error: 'out of boxes' } });
  assert.equal(await shop.packed('a'), [0]);
  await kill(failing);
  await shop.extend('a');
  await start();
  await until('it goes on', async () => (await packedBy(shop, 'a'))?.length === 3);
  await until('nothing is held back', async () => (await heldBack())[stream] === undefined);
  assert.equal(await shop.packed('a'), [0, 1, 2]);
});

test.run();

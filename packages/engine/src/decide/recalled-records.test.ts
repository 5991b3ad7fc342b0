import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { recalledRecords } from './recalled-records.ts';
import { command, fill, jar, rename, startOn, unread } from './test-jar.ts';

const test = suite('recalled records');

/**
 * Two processes on a store that counts reads. `tell` brings the log to the first one, as its follower does; `lose`
 * is what the follower does when the log goes away, and what comes meanwhile is never told.
 */
function world() {
  const store = new MemoryStore();
  let reads = 0;
  const readStream = store.readStream.bind(store);
  store.readStream = (...given) => {
    reads += 1;
    return readStream(...given);
  };
  const [here, there] = [startOn(store), startOn(store)];
  const { cache, claims, remembered } = here.streams;
  let told = 0;
  const tell = (): void => {
    const news = store.log.slice(told).filter((event) => cache.wants(unread(event)));
    for (const event of news) cache.hear(event);
    told = store.log.length;
    cache.heard.reach(store.log.at(-1)?.position ?? 0n);
  };
  const lose = (): void => {
    cache.heard.lose();
    told = store.log.length;
  };
  const recalled = (atLeast = 0n) =>
    recalledRecords({
      claims,
      remembered,
      writerOf: (aggregate, id) => here.streams.writer(aggregate, 'env_1', id),
      scopeOf: () => 'env_1',
      atLeast,
    });
  /** The coins of each filling that is recalled. */
  const fillings = async (atLeast = 0n, range = {}): Promise<readonly number[]> => {
    const coins: number[] = [];
    for await (const event of recalled(atLeast).history(jar, '1', range)) {
      if (event.type === 'Filled') coins.push(event.data.coins);
    }
    return coins;
  };
  const coins = async (atLeast = 0n): Promise<number> =>
    (await recalled(atLeast).load(jar, '1')).coins;
  /** The reads of the log that some work needs. */
  const readsOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = reads;
    await work();
    return reads - before;
  };
  const fillThere = (by: number) => there.writer().run(command(fill(by)));
  return { store, here, there, tell, lose, recalled, coins, fillings, readsOf, fillThere };
}

test('a record that was read once is known without the log, with all that was told since', async () => {
  const { tell, coins, readsOf, fillThere } = world();
  await fillThere(1);
  tell();
  assert.is(await coins(), 1);
  await fillThere(2);
  assert.is(await coins(), 1, 'of what was not told yet nothing is known');
  tell();
  assert.is(await readsOf(async () => assert.is(await coins(), 3)), 0);
});

test('a position that the caller insists on, and that was not told yet, is read from the log', async () => {
  const { store, tell, coins, fillThere } = world();
  await fillThere(1);
  tell();
  await coins();
  await fillThere(2);
  assert.is(await coins(store.log.at(-1)?.position), 3);
});

test('before anything was told, and after a gap, the log is asked', async () => {
  const { tell, lose, coins, readsOf, fillThere } = world();
  await fillThere(1);
  assert.is(await readsOf(() => coins()), 1);
  assert.is(await readsOf(() => coins()), 1, 'nobody tells');
  tell();
  assert.is(await readsOf(() => coins()), 1, 'the last read was before the telling began');
  assert.is(await readsOf(() => coins()), 0);
  lose();
  await fillThere(2);
  assert.is(await coins(), 3);
  await fillThere(4);
  lose();
  tell();
  assert.is(await coins(), 7, 'what was missed is not taken for known');
});

test('that there is no record is said by the log alone', async () => {
  const { there, tell, coins, recalled } = world();
  tell();
  assert.is(await coins(), 0);
  assert.is(await recalled().holderOf(jar, 'name', 'red'), null);
  await there.writer().run(command(fill(5)));
  await there.writer().run(command(rename('red')));
  assert.equal([await coins(), await recalled().holderOf(jar, 'name', 'red')], [5, '1']);
});

test('who asks for what is known is not told of a record that was made elsewhere until it is heard of', async () => {
  const { store, tell, recalled, readsOf, fillThere } = world();
  const known = async (atLeast = 0n) => (await recalled(atLeast).known(jar, '1')).coins;
  tell();
  assert.is(await known(), 0);
  assert.is(await readsOf(async () => assert.is(await known(), 0)), 0);
  await fillThere(5);
  assert.is(await known(), 0);
  assert.is(await known(store.log.at(-1)?.position), 5, 'insisted on');
  assert.is(await known(), 5);
});

test('of a history that was read once only what came since is read, and nothing before it has come', async () => {
  const { here, tell, fillings, readsOf, fillThere } = world();
  assert.equal(await fillings(), []);
  for (const coins of [1, 2, 3]) await fillThere(coins);
  await here.writer().current();
  tell();
  assert.equal(await fillings(), [1, 2, 3]);
  const again = async () => assert.equal(await fillings(), [1, 2, 3]);
  await readsOf(again);
  assert.is(await readsOf(again), 0);
  await here.writer().run(command(fill(4)));
  assert.equal(await fillings(), [1, 2, 3, 4], 'one of our own is there at once');
  await fillThere(5);
  assert.equal(await fillings(), [1, 2, 3, 4]);
  tell();
  assert.is(await readsOf(async () => assert.equal(await fillings(), [1, 2, 3, 4, 5])), 1);
  assert.equal(await fillings(0n, { from: 1, maximum: 3 }), [2, 3, 4]);
});

test('the history of a record that nobody has heard of is empty, and a refusal that is kept beside it is no part of it', async () => {
  const { here, tell, fillings, recalled } = world();
  assert.equal(await fillings(), []);
  await here.writer().run(command(fill(1)));
  await here
    .writer()
    .run(command(fill(-5), 'key'))
    .catch(() => null);
  tell();
  await recalled().load(jar, '1');
  assert.equal(await fillings(), [1]);
  await here.writer().run(command(fill(2)));
  assert.equal(await fillings(), [1, 2]);
});

test('the holder of a value is known without the log, until another is told', async () => {
  const { there, tell, recalled, readsOf } = world();
  const holder = (): Promise<string | null> => recalled().holderOf(jar, 'name', 'red');
  await there.writer().run(command(rename('red')));
  tell();
  assert.is(await holder(), '1');
  assert.is(await readsOf(holder), 0);
  await there.writer().run(command(rename(null)));
  await there.writer('2').run(command(rename('red')));
  tell();
  assert.is(await holder(), '2');
});

test.run();

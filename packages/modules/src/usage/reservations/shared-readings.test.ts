import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SharedReadings } from './shared-readings.ts';

const test = suite('shared readings');

/** Readings that end when the test says so. */
function readings() {
  const shared = new SharedReadings<number>();
  const ends: { resolve: (value: number) => void; reject: (reason: Error) => void }[] = [];
  const begin = () => new Promise<number>((resolve, reject) => void ends.push({ resolve, reject }));
  return { ends, read: (key = 'one') => shared.read(key, begin) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('who comes while one is under way gets the next, together with all others', async () => {
  const { ends, read } = readings();
  const first = read();
  const [second, third] = [read(), read()];
  assert.is(ends.length, 1);
  ends[0]?.resolve(1);
  assert.is(await first, 1);
  await turn();
  assert.is(ends.length, 2);
  const fourth = read();
  ends[1]?.resolve(2);
  assert.equal(await Promise.all([second, third]), [2, 2]);
  await turn();
  ends[2]?.resolve(3);
  assert.is(await fourth, 3);
});

test('a reading that fails is not that of the next', async () => {
  const { ends, read } = readings();
  const first = read().catch((reason: Error) => reason.message);
  const second = read();
  ends[0]?.reject(new Error('gone'));
  assert.is(await first, 'gone');
  await turn();
  ends[1]?.resolve(2);
  assert.is(await second, 2);
});

test('other figures do not wait', async () => {
  const { ends, read } = readings();
  const first = read('one');
  const second = read('two');
  ends[1]?.resolve(2);
  assert.is(await second, 2);
  ends[0]?.resolve(1);
  assert.is(await first, 1);
});

test.run();

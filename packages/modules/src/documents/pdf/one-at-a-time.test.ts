import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { queueOf } from './one-at-a-time.ts';

const test = suite('one at a time');

test('work is done one after the other, and a failure does not hold up the next', async () => {
  const queue = queueOf({ most: 9, mostOfOne: 9 });
  const told: string[] = [];
  const work = (name: string, fails: boolean) =>
    queue('tenant', async () => {
      told.push(`${name} begins`);
      await Promise.resolve();
      told.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const results = await Promise.allSettled([work('a', false), work('b', true), work('c', false)]);
  assert.equal(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.equal(told, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('nobody fills the queue for the others, and all together do not fill the memory', async () => {
  const queue = queueOf({ most: 3, mostOfOne: 2 });
  const release = Promise.withResolvers<string>();
  const wait = () => release.promise;
  const first = [queue('one', wait), queue('one', wait)];
  assert.is((await rejection(queue('one', wait))).code, 'service_unavailable');
  const other = queue('other', wait);
  assert.is((await rejection(queue('third', wait))).code, 'service_unavailable');
  release.resolve('done');
  assert.equal(await Promise.all([...first, other]), ['done', 'done', 'done']);
  assert.is(await queue('one', async () => 'again'), 'again');
});

test.run();

import type { Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RecentUsage } from './recent-usage.ts';

const test = suite('usage of the last seconds');

const usage = { content: 'c', timestamp: '2026-01-01T00:00:00.000Z' as Instant };
const one = new Map([['1', usage]]);

test('an event is known once it is durable, and not before', async () => {
  const recent = new RecentUsage();
  const { promise, resolve } = Promise.withResolvers<void>();
  const recording = recent.during('env', one, promise);
  assert.is(recent.get('env', '1'), undefined);
  let isSettled = false;
  const settled = recent.settled('env', ['1']).then(() => {
    isSettled = true;
  });
  await Promise.resolve();
  assert.not(isSettled);
  resolve();
  await Promise.all([recording, settled]);
  assert.equal(recent.get('env', '1'), usage);
  assert.is(recent.get('other', '1'), undefined);
});

test('an event that could not be recorded is not known, and its failure is told', async () => {
  const recent = new RecentUsage();
  const failure = new Error('away');
  const told = await recent.during('env', one, Promise.reject(failure)).catch((error) => error);
  assert.is(told, failure);
  assert.is(recent.get('env', '1'), undefined);
  await recent.settled('env', ['1']);
});

test.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { between } from './between.ts';

const test = suite('work between batches');

test('a piece of work is done before each batch, and more while none is there', async () => {
  const done: string[] = [];
  let left = 5;
  let bring: () => void = () => undefined;
  const isLate = new Promise<void>((resolve) => {
    bring = resolve;
  });
  async function* batches(): AsyncGenerator<string> {
    yield 'first';
    await isLate;
    yield 'second';
  }
  const work = async (): Promise<boolean> => {
    if (left === 0) return false;
    left -= 1;
    done.push('piece');
    if (left === 1) bring();
    await new Promise((resolve) => setImmediate(resolve));
    return left > 0;
  };
  for await (const batch of between(batches(), work)) done.push(batch);
  assert.is(done[0], 'piece');
  assert.ok(done.indexOf('first') < done.indexOf('second'));
  const pieces = done.slice(done.indexOf('first'), done.indexOf('second'));
  assert.ok(pieces.length > 2, done.join(' '));
  assert.is(left, 0, done.join(' '));
});

test('work that fails ends it, also while a batch is waited for', async () => {
  const never = (async function* (): AsyncGenerator<string> {
    await new Promise(() => undefined);
    yield 'never';
  })();
  const work = () => Promise.reject(new Error('broken'));
  const told = await between(never, work)
    .next()
    .catch((error: Error) => error.message);
  assert.is(told, 'broken');
});

test('a source that fails is told as it is', async () => {
  const lost = (async function* (): AsyncGenerator<string> {
    yield 'one';
    throw new Error('lost');
  })();
  const seen: string[] = [];
  const told = await (async () => {
    for await (const batch of between(lost, async () => false)) seen.push(batch);
  })().catch((error: Error) => error.message);
  assert.equal([seen, told], [['one'], 'lost']);
});

test.run();

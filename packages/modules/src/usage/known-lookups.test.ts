import type { Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type KnownEvents, KnownLookups } from './known-lookups.ts';

const test = suite('look-ups of ids');

const known = { content: 'c', timestamp: '2026-01-01T00:00:00.000Z' as Instant };
const allOf = (ids: readonly string[]): KnownEvents => new Map(ids.map((id) => [id, known]));

/** Reads that are answered when the test says so. */
function reads() {
  const asked: { ids: readonly string[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const read = (ids: readonly string[]): Promise<KnownEvents> => {
    const { promise, resolve, reject } = Promise.withResolvers<KnownEvents>();
    asked.push({ ids, answer: () => resolve(allOf(ids)), fail: reject });
    return promise;
  };
  return { asked, read };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('what comes while a look-up is under way is looked up together, by environment', async () => {
  const lookups = new KnownLookups();
  const { asked, read } = reads();
  const first = lookups.find('env', ['1'], read);
  const others = ['2', '3'].map((id) => lookups.find('env', [id], read));
  const elsewhere = lookups.find('other', ['4'], read);
  assert.equal(
    asked.map(({ ids }) => ids),
    [['1'], ['4']],
  );
  asked[0]?.answer();
  asked[1]?.answer();
  assert.ok((await first).has('1'));
  await elsewhere;
  await turn();
  assert.equal(asked[2]?.ids, ['2', '3']);
  asked[2]?.answer();
  assert.ok((await Promise.all(others)).every((found) => found.size === 2));
  await turn();
  const later = lookups.find('env', ['5'], read);
  asked[3]?.answer();
  assert.ok((await later).has('5'));
});

test('many ids are looked up by themselves', async () => {
  const lookups = new KnownLookups();
  const { asked, read } = reads();
  const few = lookups.find('env', ['1'], read);
  const many = Array.from({ length: 100 }, (_, index) => `many-${index}`);
  const found = lookups.find('env', many, read);
  assert.equal(asked[1]?.ids, many);
  for (const { answer } of asked) answer();
  await Promise.all([few, found]);
});

test('a look-up that fails tells those it was for, and the next one goes on', async () => {
  const lookups = new KnownLookups();
  const { asked, read } = reads();
  const first = lookups.find('env', ['1'], read).catch((error: Error) => error.message);
  const second = lookups.find('env', ['2'], read);
  asked[0]?.fail(new Error('away'));
  assert.is(await first, 'away');
  await turn();
  asked[1]?.answer();
  assert.ok((await second).has('2'));
});

test.run();

import { Problem } from '@counterfoil/kernel';
import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sampleEvent } from '../log/sample-events.ts';
import { PositionClock } from '../projection/projected-position.ts';
import { BlankStretches } from './blank-stretches.ts';
import { factReads, RecentFacts } from './fact-reads.ts';
import { readings as tables } from './test-readings.ts';

const test = suite('reads of facts');

/** A log with events of some categories, and the reads of tables that have come to a position. */
async function readsOf(
  categories: readonly string[],
  reached: bigint,
  written: bigint | null = null,
) {
  const store = new MemoryStore();
  for (const [index, category] of categories.entries()) {
    await store.append(`${category}-env_01.s${index}`, [sampleEvent()], -1);
  }
  const clock = new PositionClock();
  clock.set(reached);
  const pool = { query: () => Promise.reject(new Error('nothing is selected')) };
  const tracker = { reached: () => clock, schemaOf: () => 'readings' };
  const stretches = new BlankStretches(store);
  const reads = factReads({
    side: { pool, prepared: pool, tracker, stretches, recent: new RecentFacts() },
    store,
    caller: { tenantId: 'tenant_01', environmentId: 'env_01', keyId: 'key' } as never,
    minimumPosition: null,
    written,
    onRead: () => undefined,
  });
  return { store, reads };
}

for (const [name, categories, reached, expected] of [
  ['tables of an empty log lack nothing', [], 0n, ['0', '0', 0]],
  ['tables at the end of the log lack nothing', ['readings'], 1n, ['1', '1', 0]],
  ['tables behind events of others alone show all', ['readings', 'jar', 'jar'], 1n, ['3', '3', 0]],
  [
    'tables behind events of their own show what they have',
    ['readings', 'jar', 'readings', 'readings'],
    1n,
    ['4', '1', 2],
  ],
  ['no more than 16 are counted', Array(40).fill('readings'), 3n, ['40', '3', 16]],
  ['tables at a place behind the last event lack nothing', ['readings'], 5n, ['1', '1', 0]],
] as const) {
  test(name, async () => {
    const { reads } = await readsOf(categories, reached);
    const { head, shown, missing } = await reads.progress(tables);
    assert.equal([head, shown, missing], expected);
  });
}

for (const [name, categories, reached, written, expected] of [
  ['records that the caller has written are shown', ['readings', 'jar', 'jar'], 1n, 3n, '3'],
  ['facts that came before them are not', ['readings', 'readings', 'jar'], 1n, 3n, '1'],
  ['tables that are further say so', ['readings', 'jar', 'readings'], 3n, 2n, '3'],
  ['a caller that has written nothing is told where they are', ['readings', 'jar'], 1n, null, '1'],
] as const) {
  test(name, async () => {
    const { reads } = await readsOf(categories, reached, written);
    assert.is(await reads.shown(tables), expected);
  });
}

test('a log that cannot be read is 503', async () => {
  const { store, reads } = await readsOf(['readings'], 0n);
  store.isDown = true;
  const refusal = await reads.progress(tables).then(
    () => null,
    (error: unknown) => error,
  );
  assert.ok(refusal instanceof Problem);
  assert.is(refusal.code, 'service_unavailable');
});

test.run();

import { MemoryStore } from '@counterfoil/testkit';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sampleEvent } from '../log/sample-events.ts';
import type { EventStore, Position } from '../log/types.ts';
import { BlankStretches } from './blank-stretches.ts';
import { readings as tables } from './test-readings.ts';

const test = suite('blank stretches');

/** A log that counts how often it is read, and grows. */
function countedLog() {
  const store = new MemoryStore();
  let reads = 0;
  let places = 0;
  const readLog: EventStore['readLog'] = (options) => {
    reads += 1;
    return store.readLog(options);
  };
  const stretches = new BlankStretches({ readLog });
  return {
    store,
    reads: () => reads,
    grow: async (...categories: readonly string[]) => {
      for (const category of categories) {
        places += 1;
        await store.append(`${category}-env_01.s${places}`, [sampleEvent()], -1);
      }
    },
    isBlank: (after: number, upTo: number) =>
      stretches.isBlank(tables, {
        after: BigInt(after) as Position,
        upTo: BigInt(upTo) as Position,
      }),
  };
}

test('the log is read once for a place, and on from there for what was written since', async () => {
  const { grow, isBlank, reads } = countedLog();
  await grow('readings', 'jar', 'jar');
  assert.is(await isBlank(1, 3), true);
  assert.is(await isBlank(1, 3), true);
  assert.is(await isBlank(2, 3), true);
  assert.is(reads(), 1);
  await grow('jar', 'readings');
  assert.is(await isBlank(1, 4), true);
  assert.is(reads(), 2);
  assert.is(await isBlank(1, 5), false);
  assert.is(reads(), 3);
});

test('a fact that is not in the tables yet is found once, however many ask', async () => {
  const { grow, isBlank, reads } = countedLog();
  await grow('jar', 'readings', 'jar', 'jar');
  const asked = [isBlank(0, 3), isBlank(0, 4), isBlank(1, 4), isBlank(0, 1)];
  assert.equal(await Promise.all(asked), [false, false, false, true]);
  assert.is(reads(), 1);
  assert.is(await isBlank(2, 4), true);
  assert.is(reads(), 2);
});

test('a log that cannot be read says no, to all who wait', async () => {
  const { grow, isBlank, store } = countedLog();
  await grow('jar', 'jar');
  store.isDown = true;
  assert.equal(await Promise.all([isBlank(0, 1), isBlank(0, 2)]), [false, false]);
  store.isDown = false;
  assert.is(await isBlank(0, 2), true);
});

test('whatever is asked in whatever order, the answer is that of the log', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('grow' as const), isFact: fc.boolean() }),
    fc.record({ kind: fc.constant('ask' as const), one: fc.nat(20), other: fc.nat(20) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { grow, isBlank } = countedLog();
      const facts: boolean[] = [];
      for (const each of steps) {
        if (each.kind === 'grow') {
          facts.push(each.isFact);
          await grow(each.isFact ? 'readings' : 'jar');
          continue;
        }
        const [after = 0, upTo = 0] = [each.one, each.other]
          .map((place) => place % (facts.length + 1))
          .toSorted((a, b) => a - b);
        assert.is(await isBlank(after, upTo), !facts.slice(after, upTo).includes(true));
      }
    }),
    { numRuns: 200 },
  );
});

test.run();

import { type Instant, Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { UsageReads } from '../usage-reads.ts';
import { readKept, readWithDropped } from './refuse-dropped.ts';

const test = suite('reads of events of which some may be dropped');

const about = {
  eventName: 'calls',
  spans: [
    { start: '2026-03-01T00:00:00.000Z', end: '2026-03-02T00:00:00.000Z' },
    { start: '2026-05-01T00:00:00.000Z', end: '2026-05-02T00:00:00.000Z' },
  ] as { start: Instant; end: Instant }[],
};

/** Reads that say what they do; the read of events may change the tables meanwhile. */
function world(months: readonly string[]) {
  const done: string[] = [];
  let filling = 'first';
  let isDropped = months;
  const facts = {
    filling: () => filling,
    ask: async (_: unknown, given: { starts: readonly string[]; ends: readonly string[] }) => {
      done.push(`${given.starts.join()} to ${given.ends.join()}`);
      return isDropped.map((month) => ({ month }));
    },
  };
  return {
    done,
    reads: { facts, principal: { environmentId: 'env_1' } } as unknown as UsageReads,
    read: (meanwhile?: { dropped?: readonly string[]; filling?: string }) => async () => {
      done.push('events');
      isDropped = meanwhile?.dropped ?? isDropped;
      filling = meanwhile?.filling ?? filling;
      return ['event'];
    },
  };
}

const refused = async (work: Promise<unknown>): Promise<Problem> => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.instance(error, Problem);
  return error as Problem;
};

test('what is dropped is looked for after the events were read, in each of the spans', async () => {
  const { done, reads, read } = world([]);
  assert.equal(await readKept(reads, about, read()), ['event']);
  assert.equal(done, [
    'events',
    '2026-03-01T00:00:00.000Z,2026-05-01T00:00:00.000Z to 2026-03-02T00:00:00.000Z,2026-05-02T00:00:00.000Z',
  ]);
});

test('a month that goes while events are read makes no figure', async () => {
  const { reads, read } = world([]);
  const { code, details } = await refused(readKept(reads, about, read({ dropped: ['2026-03'] })));
  assert.equal(
    [code, details],
    ['invalid_operation', { reason: 'no_longer_kept', months: ['2026-03'] }],
  );
});

test('tables that are exchanged while events are read make no figure', async () => {
  const { reads, read } = world([]);
  const { code, retryAfterSeconds } = await refused(
    readKept(reads, about, read({ filling: 'second' })),
  );
  assert.equal([code, retryAfterSeconds], ['service_unavailable', 1]);
});

test('a list is told with the months that it says nothing of', async () => {
  const { reads, read } = world(['2026-03']);
  const answer = await readWithDropped(reads, read(), () => about);
  assert.equal(answer, { rows: ['event'], dropped: ['2026-03'] });
});

test.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCommitQueue, type PendingWrite } from './commit-group.ts';
import { limits } from './limits.ts';
import type { CommitBatch } from './storage.ts';
import { gate } from './test-server.ts';

const test = suite('group commit');

/** A queue whose commits wait at gates, with a log of what happened in which order. */
function setUp() {
  const log: string[] = [];
  const gates: ReturnType<typeof gate>[] = [];
  const batches: CommitBatch[] = [];
  let started = gate();
  const queue = createCommitQueue({
    commit: (batch) => {
      const next = gate();
      gates.push(next);
      batches.push(batch);
      started.open();
      started = gate();
      return next.opened;
    },
    onDurable: (batch) => log.push(`durable ${batch.entries.at(-1)?.position}`),
    onFailure: (error) => log.push(`failure ${error.message}`),
  });
  const write = (position: number, bytes = 10, entries = 1): PendingWrite => ({
    entries: Array.from({ length: entries }, () => ({
      position,
      record: Buffer.alloc(0),
      streamId: 1,
      revision: position,
    })),
    bytes,
    streams: new Map([['s', { id: 1, lastRevision: position }]]),
    counters: { nextPosition: position + 1, nextStreamId: 2 },
    settle: (error) => log.push(error ? `refused ${position}` : `answered ${position}`),
  });
  return { log, gates, batches, queue, write, nextCommit: () => started.opened };
}

test('commits together what arrives during a commit, and answers in order', async () => {
  const { log, gates, batches, queue, write, nextCommit } = setUp();
  const first = nextCommit();
  queue.enqueue(write(1));
  await first;
  for (const position of [2, 3, 4]) queue.enqueue(write(position));
  assert.equal(log, []);
  assert.is(queue.undurableBytes(), 40);
  const second = nextCommit();
  gates[0]?.open();
  await second;
  assert.equal(log, ['durable 1', 'answered 1']);
  assert.equal(
    batches[1]?.entries.map(({ position }) => position),
    [2, 3, 4],
  );
  assert.equal(batches[1]?.streams.get('s'), { id: 1, lastRevision: 4 });
  assert.equal(batches[1]?.counters, { nextPosition: 5, nextStreamId: 2 });
  gates[1]?.open();
  await queue.idle();
  assert.equal(log.slice(2), ['durable 4', 'answered 2', 'answered 3', 'answered 4']);
  assert.is(queue.undurableBytes(), 0);
});

test('lets an answer without events wait for the writes before it', async () => {
  const { log, gates, batches, queue, write, nextCommit } = setUp();
  const first = nextCommit();
  queue.enqueue(write(1));
  await first;
  queue.enqueue(write(99, 0, 0));
  assert.equal(log, []);
  gates[0]?.open();
  await queue.idle();
  assert.equal(log, ['durable 1', 'answered 1', 'answered 99']);
  assert.is(batches.length, 1);
});

test('bounds one transaction by bytes and by events', async () => {
  const { gates, batches, queue, write, nextCommit } = setUp();
  const first = nextCommit();
  queue.enqueue(write(1, limits.groupBytes));
  queue.enqueue(write(2, 1));
  queue.enqueue(write(3, 1, limits.groupEvents));
  await first;
  for (const count of [1, 2, 3]) {
    assert.is(batches.length, count);
    const next = nextCommit();
    gates[count - 1]?.open();
    if (count < 3) await next;
  }
  await queue.idle();
  assert.equal(
    batches.map((batch) => batch.entries.length),
    [1, 1, limits.groupEvents],
  );
});

test('stops for good when a commit fails', async () => {
  const { log, gates, batches, queue, write, nextCommit } = setUp();
  const first = nextCommit();
  queue.enqueue(write(1));
  await first;
  queue.enqueue(write(2));
  gates[0]?.fail(new Error('disk full'));
  await queue.idle();
  queue.enqueue(write(3));
  await queue.idle();
  assert.equal(log, ['refused 1', 'refused 2', 'failure disk full', 'refused 3']);
  assert.is(batches.length, 1);
});

test.run();

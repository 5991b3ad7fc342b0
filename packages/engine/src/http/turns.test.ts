import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createTurns } from './turns.ts';

const test = suite('turns of tenants');

/** Turns of 5 ms whose clock and event loop stand still until the test moves them. */
function world() {
  let time = 0;
  let next: (() => void) | null = null;
  const done: string[] = [];
  const turns = createTurns({
    sliceMs: 5,
    now: () => time,
    nextTurn: (work) => {
      next = work;
    },
  });
  return {
    done,
    /** Work of a tenant that takes so many milliseconds. */
    take: (tenant: string, name: string, milliseconds = 1) =>
      turns.take(tenant, () => {
        time += milliseconds;
        done.push(name);
      }),
    turn: () => {
      const work = next;
      next = null;
      work?.();
    },
    isIdle: () => next === null,
  };
}

test('work of a tenant that has spent nothing is done at once', () => {
  const { take, done } = world();
  take('a', 'first');
  take('b', 'second');
  assert.equal(done, ['first', 'second']);
});

test('what is beyond the slice waits for the next turn, in order', () => {
  const { take, turn, done } = world();
  for (const name of ['1', '2', '3', '4', '5', '6', '7']) take('a', name);
  assert.equal(done, ['1', '2', '3', '4', '5']);
  turn();
  assert.equal(done, ['1', '2', '3', '4', '5', '6', '7']);
});

test('nobody waits for more than one long work of somebody else', () => {
  const { take, turn, done } = world();
  for (const name of ['a1', 'a2', 'a3']) take('a', name, 12);
  assert.equal(done, ['a1']);
  take('b', 'b1');
  assert.equal(done, ['a1', 'b1']);
  turn();
  take('b', 'b2');
  assert.equal(done, ['a1', 'b1', 'b2']);
});

test('long work is paid for by the turns after it', () => {
  const { take, turn, done } = world();
  take('a', 'long', 12);
  take('a', 'next', 1);
  turn();
  assert.equal(done, ['long']);
  turn();
  assert.equal(done, ['long', 'next']);
});

test('what comes while others of the tenant wait is done after them', () => {
  const { take, turn, done } = world();
  take('a', 'long', 9);
  take('a', 'waiting', 5);
  turn();
  take('a', 'late');
  assert.equal(done, ['long', 'waiting']);
  turn();
  assert.equal(done, ['long', 'waiting', 'late']);
});

test('nothing runs on when nobody waits and all is paid', () => {
  const { take, turn, isIdle } = world();
  assert.ok(isIdle());
  take('a', 'long', 9);
  assert.not(isIdle());
  turn();
  turn();
  assert.ok(isIdle());
});

test.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createTurns, rarelyAsked } from './turns.ts';

const test = suite('turns of tenants');

/** Slices of 5 ms and half of the time, in a world whose clock stands still until the test moves it. */
function world() {
  let time = 0;
  let booked: { readonly at: number; readonly work: () => void }[] = [];
  const done: string[] = [];
  const clock = {
    now: () => time,
    later: (work: () => void, milliseconds: number) => {
      booked.push({ at: time + milliseconds, work });
    },
  };
  const turns = createTurns({ sliceMs: 5, share: 0.5, presenceMs: 1_000, clock });
  return {
    done,
    turns,
    /** Work of a tenant that takes so many milliseconds. */
    take: (tenant: string, name: string, milliseconds = 1, spentMs = 0) => {
      const work = () => {
        time += milliseconds;
        done.push(name);
      };
      turns.take(tenant, work, spentMs);
    },
    /** Long work of a tenant in pieces of so many milliseconds. */
    goOn: (tenant: string, name: string, pieces: readonly number[], isWanted = () => true) => {
      function* work(): Generator<undefined, string> {
        for (const [index, milliseconds] of pieces.entries()) {
          time += milliseconds;
          done.push(`${name}${index}`);
          if (index < pieces.length - 1) yield;
        }
        return name;
      }
      turns.take(tenant, () =>
        turns.goOn({
          tenant,
          pieces: work(),
          isWanted,
          done: (result) => done.push(`${result} done`),
          failed: (error) => done.push(`${name} failed: ${error}`),
        }),
      );
    },
    /** Lets time pass, and does what is due then. */
    pass: (milliseconds: number) => {
      time += milliseconds;
      const due = booked.filter(({ at }) => at <= time);
      booked = booked.filter(({ at }) => at > time);
      for (const { work } of due) work();
    },
    isIdle: () => booked.length === 0,
  };
}

test('work of a tenant that has spent nothing is done at once', () => {
  const { take, done, isIdle } = world();
  take('a', 'first');
  take('b', 'second');
  assert.equal(done, ['first', 'second']);
  assert.ok(isIdle());
});

test('what is beyond the slice goes on in the next turn, in order', () => {
  const { take, pass, done, isIdle } = world();
  for (const name of ['1', '2', '3', '4', '5']) take('a', name, 3);
  // Half of the time of the work itself is earned meanwhile.
  assert.equal(done, ['1', '2', '3', '4']);
  pass(0);
  assert.equal(done, ['1', '2', '3', '4', '5']);
  assert.ok(isIdle());
});

test('a tenant that is alone goes on in every turn, however long its work is', () => {
  const { take, pass, done } = world();
  for (const name of ['1', '2', '3']) take('a', name, 20);
  assert.equal(done, ['1']);
  pass(0);
  assert.equal(done, ['1', '2']);
  pass(0);
  assert.equal(done, ['1', '2', '3']);
});

test('while others are there, long work is paid for by the time after it', () => {
  const { take, pass, done } = world();
  take('b', 'b1');
  for (const name of ['a1', 'a2']) take('a', name, 20);
  pass(0);
  take('b', 'b2');
  assert.equal(done, ['b1', 'a1', 'b2']);
  // 20 ms count as 40: 5 are the slice, 10 were earned meanwhile, and half of the time is the tenant's.
  pass(48);
  assert.equal(done, ['b1', 'a1', 'b2']);
  pass(2);
  assert.equal(done, ['b1', 'a1', 'b2', 'a2']);
});

test('what was spent on work before its turn is paid for first', () => {
  const { take, pass, done } = world();
  take('b', 'b1', 0);
  take('a', 'a1', 1, 15);
  pass(0);
  assert.equal(done, ['b1']);
  // Of 15 ms are 5 the slice, and half of the time is the tenant's.
  pass(20);
  assert.equal(done, ['b1']);
  pass(1);
  assert.equal(done, ['b1', 'a1']);
});

test('when the others have been away for a second, the tenant is alone', () => {
  const { take, pass, done } = world();
  take('b', 'b1');
  take('a', 'a1', 20_000);
  take('a', 'a2', 20_000);
  take('a', 'a3');
  pass(0);
  assert.equal(done, ['b1', 'a1', 'a2']);
  pass(0);
  assert.equal(done, ['b1', 'a1', 'a2', 'a3']);
});

test('a tenant does not wait for the time of another one that owes more', () => {
  const { take, pass, done } = world();
  for (const name of ['a1', 'a2']) take('a', name, 500);
  take('b', 'b1', 6);
  take('b', 'b2');
  pass(0);
  pass(9);
  assert.equal(done, ['a1', 'b1', 'b2']);
});

test('what comes while others of the tenant wait is done after them', () => {
  const { take, pass, done } = world();
  take('a', 'long', 20);
  take('a', 'waiting', 20);
  take('a', 'late');
  assert.equal(done, ['long']);
  pass(0);
  pass(0);
  assert.equal(done, ['long', 'waiting', 'late']);
});

test('long work is paid for piece by piece, and what others send goes in between', () => {
  const { take, goOn, pass, done } = world();
  take('b', 'b1');
  goOn('a', 'a', [4, 4, 4, 4]);
  assert.equal(done, ['b1', 'a0']);
  take('b', 'b2');
  pass(0);
  assert.equal(done, ['b1', 'a0', 'b2', 'a1']);
  take('b', 'b3');
  pass(0);
  assert.equal(done.slice(4), ['b3', 'a2']);
  // It has spent 12 ms, and has had its slice of 5 and half of the 14 that have passed since.
  pass(0);
  assert.equal(done.slice(6), []);
  pass(1);
  assert.equal(done.slice(6), ['a3', 'a done']);
});

test('long work stops when nobody wants its outcome any more', () => {
  const { take, goOn, pass, done, isIdle } = world();
  let isWanted = true;
  goOn('a', 'a', [1, 1, 1], () => isWanted);
  isWanted = false;
  pass(0);
  assert.equal(done, ['a0']);
  assert.ok(isIdle());
  take('a', 'next');
  assert.equal(done, ['a0', 'next']);
});

test('a failure of long work is told, and the tenant goes on', () => {
  const { take, pass, done, turns } = world();
  function* broken(): Generator<undefined, void> {
    yield;
    throw 'broken';
  }
  turns.goOn({
    tenant: 'a',
    pieces: broken(),
    done: () => done.push('done'),
    failed: (error) => done.push(`failed: ${error}`),
  });
  pass(0);
  take('a', 'next');
  assert.equal(done, ['failed: broken', 'next']);
});

test('a clock that is rarely asked rises as the other does, and is at most a millisecond ahead of it', () => {
  let day = 100;
  let thread = 5;
  let asked = 0;
  const exact = (): number => {
    asked += 1;
    return thread;
  };
  const now = rarelyAsked(exact, () => day);
  const shown = (days: number, threads: number): number => {
    day += days;
    thread += threads;
    return now();
  };
  assert.equal([shown(0, 0), shown(0.25, 0.25), shown(0.5, 0)], [5, 5.25, 5.75]);
  assert.is(asked, 1);
  // The thread has stood still meanwhile: the clock waits for it.
  assert.equal([shown(0.25, 0), shown(20, 0.25), shown(0.5, 0.5)], [5.75, 5.75, 6]);
  assert.is(asked, 3);
  assert.is(shown(1_000, 50), 56);
});

test.run();

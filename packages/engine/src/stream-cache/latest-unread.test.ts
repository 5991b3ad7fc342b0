import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LatestUnread } from './latest-unread.ts';

const test = suite('events that wait in all streams together');

/** Streams that wait in one list of 100 characters, and the names of those that were folded. */
function world() {
  const latest = new LatestUnread(100);
  const folded: string[] = [];
  const stream = (name: string) => {
    const fold = (): void => {
      folded.push(name);
      latest.done(self);
    };
    const wait = (characters: number): void => latest.add(self, characters);
    const self = { fold, wait };
    return self;
  };
  return { stream, folded };
}

test('when they hold too much, those that have waited for longest are folded', () => {
  const { stream, folded } = world();
  const [a, b, c] = [stream('a'), stream('b'), stream('c')];
  a.wait(40);
  b.wait(30);
  a.wait(30);
  assert.equal(folded, []);
  c.wait(10);
  assert.equal(folded, ['a']);
  a.wait(60);
  assert.equal(folded, ['a']);
  c.wait(1);
  assert.equal(folded, ['a', 'b']);
  c.wait(99);
  assert.equal(folded, ['a', 'b', 'c']);
});

test('one that was folded in between counts no more', () => {
  const { stream, folded } = world();
  const [a, b] = [stream('a'), stream('b')];
  for (let round = 0; round < 5; round += 1) {
    a.wait(60);
    b.wait(40);
    a.fold();
    b.fold();
  }
  assert.equal(folded.join(''), 'ababababab');
});

test.run();

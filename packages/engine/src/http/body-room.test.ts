import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createBodyRoom } from './body-room.ts';

const test = suite('room for large bodies');

/** Room for 10 bytes of each tenant, and the names of those that were let in. */
function world() {
  const room = createBodyRoom(10);
  const inside: string[] = [];
  const ask = (tenant: string, bytes: number, name: string) =>
    room.ask(tenant, bytes, () => inside.push(name));
  return { inside, ask };
}

test('bodies are let in while there is room, and the others in their order when one leaves', () => {
  const { inside, ask } = world();
  const first = ask('acme', 6, 'first');
  ask('acme', 4, 'second');
  ask('acme', 5, 'third');
  ask('acme', 1, 'fourth');
  assert.equal(inside, ['first', 'second']);
  first.leave();
  assert.equal(inside, ['first', 'second', 'third', 'fourth']);
});

test('a small body does not overtake a large one that waits', () => {
  const { inside, ask } = world();
  ask('acme', 6, 'first');
  ask('acme', 6, 'large');
  ask('acme', 1, 'small');
  assert.equal(inside, ['first']);
});

test('tenants have room of their own', () => {
  const { inside, ask } = world();
  ask('acme', 10, 'acme');
  ask('bolt', 10, 'bolt');
  assert.equal(inside, ['acme', 'bolt']);
});

test('a body that is larger than the room has it alone', () => {
  const { inside, ask } = world();
  const small = ask('acme', 1, 'small');
  const huge = ask('acme', 11, 'huge');
  ask('acme', 1, 'last');
  assert.equal(inside, ['small']);
  small.leave();
  assert.equal(inside, ['small', 'huge']);
  huge.leave();
  assert.equal(inside, ['small', 'huge', 'last']);
});

test('who leaves the line is not let in, and makes way for those behind', () => {
  const { inside, ask } = world();
  const first = ask('acme', 6, 'first');
  const impatient = ask('acme', 6, 'impatient');
  ask('acme', 4, 'behind');
  impatient.leave();
  assert.equal(inside, ['first', 'behind']);
  first.leave();
  assert.equal(inside, ['first', 'behind']);
});

test('to leave twice gives the room back once', () => {
  const { inside, ask } = world();
  const first = ask('acme', 5, 'first');
  ask('acme', 5, 'second');
  first.leave();
  first.leave();
  ask('acme', 5, 'third');
  ask('acme', 5, 'fourth');
  assert.equal(inside, ['first', 'second', 'third']);
});

test.run();

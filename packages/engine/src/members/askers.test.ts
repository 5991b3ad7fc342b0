import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Askers } from './askers.ts';

const test = suite('members that ask an owner');

const stream = 'wallet-env_1.1';

/** A member's view of who asks it, and the time of its clock. */
function world() {
  const time = { now: 1_000 };
  const askers = new Askers(() => time.now);
  return { time, askers, ask: (member: string) => askers.note(stream, member) };
}

test('a stream is shared while a second member asks as well', () => {
  const { time, ask } = world();
  assert.equal(
    [ask('a'), ask('a'), ask('b'), ask('b'), ask('a')],
    [false, false, true, true, true],
  );
  time.now += 4_999;
  assert.ok(ask('a'), 'b has asked less than five seconds ago');
  time.now += 1;
  assert.not(ask('a'));
  assert.ok(ask('b'));
});

test('a member that owns a stream is one of those who write to it, once another one has asked', () => {
  const { time, askers, ask } = world();
  askers.noteBeside(stream, 'self');
  assert.not(ask('a'), 'what it did before counts for nothing');
  askers.noteBeside(stream, 'self');
  assert.ok(ask('a'));
  time.now += 5_000;
  assert.not(ask('a'));
});

test('streams do not mix', () => {
  const { askers, ask } = world();
  ask('a');
  assert.not(askers.note('wallet-env_1.2', 'b'));
});

test.run();

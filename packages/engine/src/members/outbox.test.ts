import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { messageLimits, Outbox } from './outbox.ts';

const test = suite('what goes to one member');

function world(isBusy = () => false) {
  const sent: (readonly number[])[] = [];
  const box = new Outbox<number>((items) => sent.push(items), isBusy);
  return { box, sent };
}

test('all that come in one turn go in one message', async () => {
  const { box, sent } = world();
  box.add(1, 10);
  box.add(2, 10);
  assert.equal(sent, []);
  await nextTurn();
  assert.equal(sent, [[1, 2]]);
  box.add(3, 10);
  await nextTurn();
  assert.equal(sent, [[1, 2], [3]]);
});

test('while much is under way, those of a few milliseconds do', () => {
  mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] });
  try {
    const { box, sent } = world(() => true);
    box.add(1, 10);
    mock.timers.tick(2);
    box.add(2, 10);
    assert.equal(sent, []);
    mock.timers.tick(1);
    assert.equal(sent, [[1, 2]]);
    box.add(3, 10);
    mock.timers.tick(3);
    assert.equal(sent, [[1, 2], [3]]);
  } finally {
    mock.timers.reset();
  }
});

test('a message has no more items and bytes than a broker takes', () => {
  const { box, sent } = world(() => true);
  for (let item = 0; item <= messageLimits.items; item += 1) box.add(item, 10);
  assert.equal(
    sent.map(({ length }) => length),
    [messageLimits.items],
  );
  box.add(-1, messageLimits.bytes);
  assert.equal(sent[1], [messageLimits.items]);
});

test.run();

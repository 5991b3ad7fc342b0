import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { statusLines } from './status.ts';

const test = suite('counterfoil status');

const check = (name: string) => ({ name, required: true, status: 'ok' as const });

test('a process that is ready is one line, and its members another', () => {
  const members = { ...check('members'), details: { members: ['a:1', 'b:2'] } };
  assert.equal(statusLines('http://a', { ready: true, checks: [check('http'), members] }), [
    'http://a: ready',
    '  members: a:1, b:2',
  ]);
});

test('checks that fail are named, with what is wrong', () => {
  const store = { ...check('event_store'), status: 'failing' as const, message: 'no answer' };
  const nats = { ...store, name: 'nats', required: false };
  assert.equal(statusLines('http://a', { ready: false, checks: [store, nats] }), [
    'http://a: not ready',
    '  event_store: no answer',
    '  nats (not required): no answer',
  ]);
});

test.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { UnreadEvent } from '../log/types.ts';
import { HeardLog } from './heard-log.ts';
import { UnreadStreams } from './unread-streams.ts';

const test = suite('streams that nobody has asked for');

const event = (stream: string, revision: number, characters = 10): UnreadEvent => ({
  ...{ stream, revision, characters },
  ...{ id: `${stream}@${revision}`, position: BigInt(revision) },
  read: () => {
    throw new Error('nothing is parsed before somebody asks');
  },
});

const noted = (streams: UnreadStreams, name: string): number | null =>
  streams.take(name)?.events.length ?? null;

test('a stream is kept from its first event on, and handed out once', () => {
  const streams = new UnreadStreams(new HeardLog());
  for (const revision of [0, 1, 2]) streams.note(event('a', revision));
  assert.is(noted(streams, 'a'), 3);
  assert.is(noted(streams, 'a'), null);
  streams.note(event('a', 3));
  assert.is(noted(streams, 'a'), null, 'what follows is not the whole');
});

test('one that began before, or of which an event is missing, is not kept', () => {
  const streams = new UnreadStreams(new HeardLog());
  streams.note(event('old', 7));
  streams.note(event('gap', 0));
  streams.note(event('gap', 2));
  assert.equal([noted(streams, 'old'), noted(streams, 'gap')], [null, null]);
});

test('one that gets long is let go', () => {
  const streams = new UnreadStreams(new HeardLog());
  for (let revision = 0; revision < 64; revision += 1) streams.note(event('a', revision));
  streams.note(event('b', 0));
  streams.note(event('a', 64));
  assert.equal([noted(streams, 'a'), noted(streams, 'b')], [null, 1]);
});

test('where there is no room, those that were begun first go first', () => {
  const streams = new UnreadStreams(new HeardLog(), 30);
  for (const name of ['a', 'b', 'c', 'd']) streams.note(event(name, 0));
  assert.equal([noted(streams, 'a'), noted(streams, 'b')], [null, 1]);
  for (const name of ['e', 'f']) streams.note(event(name, 0));
  assert.equal(
    [noted(streams, 'c'), noted(streams, 'f')],
    [null, 1],
    'b, handed out, has made room',
  );
});

test('after a loss of the log none that was begun before is whole', () => {
  const log = new HeardLog();
  const streams = new UnreadStreams(log);
  log.reach(1n);
  streams.note(event('a', 0));
  streams.note(event('b', 0));
  log.lose();
  log.reach(2n);
  streams.note(event('b', 1));
  assert.equal([noted(streams, 'a'), noted(streams, 'b')], [null, null]);
});

test.run();

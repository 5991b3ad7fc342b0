import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ContendedStreams } from './contended-streams.ts';
import { LiveMembers, memberLifeMilliseconds } from './live-members.ts';
import { timeToAnswer } from './time-to-answer.ts';

const test = suite('live members');

const streams = Array.from({ length: 300 }, (_, index) => `wallet-env_1.${index}`);
const member = (id: string) => ({ id, name: id });

/** The members as each of some sees them, at a time that the test sets. */
function views(ids: readonly string[]) {
  const time = { now: 0 };
  const seen = ids.map((id) => new LiveMembers(member(id), () => time.now));
  for (const view of seen) for (const id of ids) view.heard(member(id));
  return { time, seen };
}

test('all members name the same owner, and each owns a share', () => {
  const { seen } = views(['a', 'b', 'c']);
  const owners = streams.map((stream) => new Set(seen.map((view) => view.ownerOf(stream))));
  assert.ok(owners.every(({ size }) => size === 1));
  for (const id of ['a', 'b', 'c']) {
    const share = owners.filter((each) => each.has(id)).length / streams.length;
    assert.ok(share > 0.2 && share < 0.5, `${id} owns ${share}`);
  }
});

test('a member that goes moves its own streams alone', () => {
  const { seen } = views(['a', 'b', 'c']);
  const [view] = seen;
  const before = streams.map((stream) => view?.ownerOf(stream));
  view?.left('c');
  for (const [index, stream] of streams.entries()) {
    if (before[index] === 'c') assert.is.not(view?.ownerOf(stream), 'c');
    else assert.is(view?.ownerOf(stream), before[index]);
  }
});

test('a member that is not heard of for a while is not there', () => {
  const { time, seen } = views(['a', 'b']);
  const [view] = seen;
  assert.is(view?.all().length, 2);
  time.now = memberLifeMilliseconds + 1;
  assert.equal(view?.all(), [member('a')]);
  assert.ok(streams.every((stream) => view?.ownerOf(stream) === 'a'));
  assert.ok(view?.heard(member('b')), 'it is new again');
});

test('a member that keeps silent is not asked for a while, and for longer each time', () => {
  const { time, seen } = views(['a', 'b']);
  const [view] = seen;
  const isAsked = () => streams.some((stream) => view?.ownerOf(stream) === 'b');
  const restOf = (): number => {
    const from = time.now;
    view?.keptSilent('b');
    while (!isAsked()) {
      time.now += 500;
      view?.heard(member('b'));
    }
    return time.now - from;
  };
  assert.equal([restOf(), restOf()], [2_000, 4_000]);
  view?.answered('b');
  assert.is(restOf(), 2_000);
});

/** The streams on which appends were lost, and the time of their clock. */
function contendedStreams() {
  const time = { now: 0 };
  const streams = new ContendedStreams(() => time.now);
  const stream = 'wallet-env_1.1';
  return { time, streams, stream, lost: () => streams.lost(stream) };
}

test('a stream is contended for a while after a second append to it was lost', () => {
  const { time, streams, stream, lost } = contendedStreams();
  assert.not(streams.has(stream));
  lost();
  assert.not(streams.has(stream), 'one is a coincidence');
  time.now = 4_000;
  lost();
  assert.equal([streams.has(stream), streams.has('wallet-env_1.2')], [true, false]);
  time.now = 8_999;
  assert.ok(streams.has(stream));
  time.now = 9_000;
  assert.not(streams.has(stream));
});

test('one that still is contended when that time is over is so again with the next append', () => {
  const { time, streams, stream, lost } = contendedStreams();
  lost();
  lost();
  time.now = 5_000;
  assert.not(streams.has(stream));
  lost();
  assert.ok(streams.has(stream));
  time.now = 15_000;
  lost();
  assert.not(streams.has(stream), 'after ten seconds it is a coincidence again');
});

test('a stream stays contended as long as its owner says so', () => {
  const { time, streams, stream, lost } = contendedStreams();
  lost();
  lost();
  for (const now of [4_000, 8_000, 12_000]) {
    time.now = now;
    assert.ok(streams.has(stream));
    streams.confirm(stream);
  }
  time.now = 17_000;
  assert.not(streams.has(stream));
});

test('what a request took before it was handed over comes off the time of its owner', () => {
  assert.equal([0, 100, 700].map(timeToAnswer), [1_000, 900, 300]);
  assert.equal([760, 1_200, 60_000].map(timeToAnswer), [250, 250, 250]);
});

test.run();

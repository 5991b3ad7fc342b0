import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CommandOutcome } from '../decide/command.ts';
import { LatestOutcomes, Outcomes } from './outcomes.ts';

const test = suite('outcomes that are remembered');

const outcome = (state: string) => (): CommandOutcome<string> => ({
  state,
  events: [],
  revision: 0,
  position: 0n,
  replayed: false,
  refusal: null,
  writtenBy: null,
});

/** Streams of one process that remembers so many outcomes. */
const streamsWith = (maximum: number) => {
  const latest = new LatestOutcomes(maximum);
  const stream = () => new Outcomes<string>(latest);
  return { first: stream(), second: stream() };
};

const remember = (outcomes: Outcomes<string>, key: string, state = key): void =>
  outcomes.remember({ key, fields: {} }, outcome(state));

const stateOf = (outcomes: Outcomes<string>, key: string): string | undefined =>
  outcomes.of(key)?.recall().state;

test('are those of the last requests of all streams together', () => {
  const { first, second } = streamsWith(3);
  remember(first, 'a');
  remember(second, 'a', 'another');
  remember(first, 'b');
  assert.is(stateOf(first, 'a'), 'a');
  remember(second, 'c');
  assert.is(stateOf(first, 'a'), undefined);
  assert.is(stateOf(second, 'a'), 'another');
  remember(second, 'd');
  assert.is(stateOf(second, 'a'), undefined);
  assert.equal([stateOf(first, 'b'), stateOf(second, 'c'), stateOf(second, 'd')], ['b', 'c', 'd']);
});

test('are those of the last 256 requests of one stream', () => {
  const { first } = streamsWith(1_000);
  for (let number = 0; number < 300; number += 1) remember(first, `${number}`);
  assert.is(stateOf(first, '43'), undefined);
  assert.is(stateOf(first, '44'), '44');
});

test('stay when they were folded again in the meantime', () => {
  const { first } = streamsWith(2);
  remember(first, 'a', 'at first');
  remember(first, 'a', 'again');
  remember(first, 'b');
  assert.is(stateOf(first, 'a'), 'again');
  remember(first, 'c');
  assert.is(stateOf(first, 'a'), undefined);
});

test('weigh nothing once they are forgotten', () => {
  const { first, second } = streamsWith(1);
  remember(first, 'a');
  assert.ok(first.weigh() > 0);
  remember(second, 'b');
  assert.is(first.weigh(), 0);
});

test.run();

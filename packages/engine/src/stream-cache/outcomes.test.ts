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

/** Streams of one process that keeps so many outcomes at least. */
const streamsWith = (kept: number) => {
  const latest = new LatestOutcomes({ own: kept, told: 1 });
  const stream = (name: string) => new Outcomes<string>(latest, name);
  return { first: stream('first'), second: stream('second') };
};

const remember = (outcomes: Outcomes<string>, key: string, state = key): void =>
  outcomes.remember({ key, fields: {} }, 'own', outcome(state));

/** As when the log tells of a request of another process. */
const tell = (outcomes: Outcomes<string>, key: string): void =>
  outcomes.remember({ key, fields: {} }, 'told', outcome(key));

const stateOf = (outcomes: Outcomes<string>, key: string): string | undefined =>
  outcomes.of(key)?.recall().state;

test('are those of the last requests of all streams together', () => {
  const { first, second } = streamsWith(2);
  remember(first, 'a');
  remember(second, 'a', 'another');
  remember(first, 'b');
  remember(first, 'c');
  assert.equal([stateOf(first, 'a'), stateOf(second, 'a')], ['a', 'another']);
  remember(second, 'd');
  assert.equal([stateOf(first, 'a'), stateOf(second, 'a')], [undefined, undefined]);
  assert.equal([stateOf(first, 'b'), stateOf(first, 'c'), stateOf(second, 'd')], ['b', 'c', 'd']);
});

test('are what they were last, where they were folded again', () => {
  const { first } = streamsWith(1);
  remember(first, 'a', 'at first');
  remember(first, 'b');
  remember(first, 'a', 'again');
  assert.is(stateOf(first, 'a'), 'again');
});

test('of other processes are fewer, and none of our own goes for them', () => {
  const { first, second } = streamsWith(2);
  remember(first, 'a');
  for (const key of ['b', 'c', 'd']) tell(second, key);
  assert.is(stateOf(first, 'a'), 'a');
  assert.equal(
    [stateOf(second, 'b'), stateOf(second, 'c'), stateOf(second, 'd')],
    [undefined, 'c', 'd'],
  );
});

test.run();

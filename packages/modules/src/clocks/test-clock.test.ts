import type { AdvanceStep } from '@counterfoil/engine/define';
import type { EventOf, Instant } from '@counterfoil/kernel';
import { given } from '@counterfoil/testkit';
import { suite } from 'uvu';
import { removeClock, requestAdvance, setClock, takeStep } from './decisions.ts';
import { testClock } from './test-clock.ts';

const test = suite('test clock');

type Event = EventOf<typeof testClock.events>;
const day = (number: number): Instant =>
  `2026-01-${String(number).padStart(2, '0')}T00:00:00.000Z` as Instant;
const set: Event = { type: 'TestClockSet', data: { environment_id: 'env_1', now: day(1) } };
const asked = (number: number, stop_at_next_effect = false): Event => ({
  type: 'TestClockAdvanceRequested',
  data: { to: day(number), stop_at_next_effect },
});
const moved = (number: number, effects = 0): Event => ({
  type: 'TestClockMoved',
  data: { now: day(number), effects },
});
const stopped = (number: number, effects = 0): Event => ({
  type: 'TestClockStopped',
  data: { now: day(number), effects, ended: 'reached', failure: null },
});
const move = (number: number): AdvanceStep => ({ kind: 'move', now: day(number), effects: 0 });
const reach = (number: number): AdvanceStep => ({
  kind: 'end',
  ended: 'reached',
  now: day(number),
  effects: 3,
});

test('it is set once, and moves only by an advance', () => {
  given(testClock, [])
    .when(setClock('env_1', day(1)))
    .then([set]);
  given(testClock, [set])
    .when(setClock('env_1', day(1)))
    .then([]);
  given(testClock, [set])
    .when(setClock('env_1', day(2)))
    .thenProblem('already_exists');
});

test('an advance goes forward, one at a time, and needs a clock', () => {
  given(testClock, [set])
    .when(requestAdvance(day(9), false))
    .then([asked(9)]);
  given(testClock, [set])
    .when(requestAdvance(day(1), true))
    .then([asked(1, true)]);
  given(testClock, [set, asked(5), moved(3)])
    .when(requestAdvance(day(9), false))
    .thenProblem('version_conflict');
  given(testClock, [set, asked(5), stopped(5)])
    .when(requestAdvance(day(4), false))
    .thenProblem('validation_error');
  given(testClock, [])
    .when(requestAdvance(day(9), false))
    .thenProblem('invalid_operation');
  const farAway = '2046-01-30T00:00:00.000Z' as Instant;
  given(testClock, [set]).when(requestAdvance(farAway, false)).thenProblem('validation_error');
});

test('a step that is behind, beyond the target or of an advance that is over is no event', () => {
  const onTheWay = [set, asked(5), moved(3)];
  given(testClock, onTheWay)
    .when(takeStep(1, move(4)))
    .then([moved(4)]);
  for (const number of [2, 3, 6])
    given(testClock, onTheWay)
      .when(takeStep(1, move(number)))
      .then([]);
  given(testClock, onTheWay)
    .when(takeStep(1, reach(5)))
    .then([stopped(5, 3)]);
  given(testClock, [...onTheWay, stopped(5)])
    .when(takeStep(1, reach(5)))
    .then([]);
  const next = [...onTheWay, stopped(5), asked(9)];
  given(testClock, next)
    .when(takeStep(1, move(6)))
    .then([]);
  given(testClock, next)
    .when(takeStep(2, move(6)))
    .then([moved(6)]);
  given(testClock, [])
    .when(takeStep(1, move(6)))
    .then([]);
});

test('advances are told apart also when the clock was removed between them', () => {
  const again: Event[] = [set, asked(2), stopped(2), { type: 'TestClockRemoved', data: {} }, set];
  given(testClock, [...again, asked(5)])
    .when(takeStep(1, move(3)))
    .then([]);
  given(testClock, [...again, asked(5)])
    .when(takeStep(2, move(3)))
    .then([moved(3)]);
});

test("it is removed once the system's clock has reached it", () => {
  given(testClock, [set])
    .when(removeClock())
    .then([{ type: 'TestClockRemoved', data: {} }]);
  given(testClock, []).when(removeClock()).then([]);
  const ahead: Event = { type: 'TestClockSet', data: { environment_id: 'env_1', now: day(2) } };
  given(testClock, [ahead]).when(removeClock()).thenProblem('version_conflict');
  given(testClock, [set, asked(5)])
    .when(removeClock())
    .thenProblem('version_conflict');
});

test.run();

import { Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../log/types.ts';
import type { Log } from './log.ts';
import { createMetrics } from './metrics.ts';
import { ClockGuard } from './trusted-time.ts';

const test = suite('trusted time');

const start = Date.parse('2026-11-01T12:00:00.400Z');

/** A machine and an event store, whose clocks and answers a test moves. */
function machine() {
  const lines: string[] = [];
  const at = { wall: start, mono: 1_000, store: start };
  const store = {
    questions: 0,
    /** The time that an answer takes. */
    delay: 0,
    answer: 'time' as 'time' | 'nothing' | 'away',
    time: async (): Promise<number | null> => {
      store.questions += 1;
      if (store.answer === 'away') throw new StoreUnavailable('gone');
      if (store.answer === 'nothing') return null;
      pass(store.delay / 2);
      const told = Math.floor(at.store / 1_000) * 1_000;
      pass(store.delay / 2);
      return told;
    },
  };
  const pass = (milliseconds: number): void => {
    for (const clock of ['wall', 'mono', 'store'] as const) at[clock] += milliseconds;
  };
  const note = (line: string): void => void lines.push(line);
  const metrics = createMetrics({ processMetrics: false });
  const guard = new ClockGuard({
    store,
    limitSeconds: 5,
    log: { info: note, warn: note, error: note } as unknown as Log,
    metrics,
    wall: () => at.wall,
    monotonic: () => at.mono,
  });
  return { guard, store, at, lines, pass, metrics };
}

/** The answer to who wants to write: null, or the reason of the refusal. */
async function outcomeOf(doubt: Promise<void> | null): Promise<unknown> {
  try {
    await doubt;
    return null;
  } catch (error) {
    assert.instance(error, Problem);
    const { status, retryAfterSeconds, details } = error as Problem;
    assert.equal([status, retryAfterSeconds], [503, 5]);
    return details?.reason ?? 'unreachable';
  }
}

test('the first who writes waits for the first measurement; the next ask nothing', async () => {
  const { guard, store, pass } = machine();
  assert.is(await outcomeOf(guard.doubt()), null);
  for (let hour = 0; hour < 24; hour += 1) {
    pass(3_600_000);
    assert.is(guard.doubt(), null);
  }
  assert.is(store.questions, 1);
});

test('a clock that is ahead or behind by more than the limit is refused, one within it is not', async () => {
  for (const [off, outcome] of [
    [3_000, null],
    [-3_000, null],
    [7_000, 'clock_skew'],
    [-7_000, 'clock_skew'],
    [365 * 86_400_000, 'clock_skew'],
  ] as const) {
    const { guard, at } = machine();
    at.wall += off;
    assert.is(await outcomeOf(guard.doubt()), outcome, String(off));
  }
});

test('a jump of the clock is seen by the very next writer, and its end by the next one', async () => {
  const { guard, at, lines, store } = machine();
  await guard.measure();
  at.wall += 3_600_000;
  assert.is(await outcomeOf(guard.doubt()), 'clock_skew');
  const { questions } = store;
  // A moment later nobody asks again.
  assert.is(await outcomeOf(guard.doubt()), 'clock_skew');
  assert.is(store.questions, questions);
  at.wall -= 3_600_000;
  assert.is(guard.doubt(), null);
  assert.is(lines.length, 2);
  assert.match(lines[0] ?? '', /3600 s ahead of the event store's/);
  assert.match(lines[1] ?? '', /right again/);
});

test('a machine that was suspended is asked once and goes on', async () => {
  const { guard, at, store, lines } = machine();
  await guard.measure();
  at.wall += 3_600_000;
  at.store += 3_600_000;
  const waiting = [guard.doubt(), guard.doubt(), guard.doubt()];
  assert.equal(await Promise.all(waiting.map(outcomeOf)), [null, null, null]);
  assert.is(store.questions, 2);
  assert.is(guard.doubt(), null);
  at.wall += 3_600_000;
  at.store += 3_600_000;
  await guard.check();
  assert.equal(lines, [], 'it was never wrong');
});

test('while the event store is away, a right clock is right and a doubtful one writes nothing', async () => {
  const { guard, at, store, pass } = machine();
  await guard.measure();
  store.answer = 'away';
  pass(600_000);
  assert.is(guard.doubt(), null);
  at.wall += 60_000;
  pass(2_000);
  assert.is(await outcomeOf(guard.doubt()), 'unreachable');
});

test('before anything was measured nobody writes while the event store is away', async () => {
  const { guard, store } = machine();
  store.answer = 'away';
  assert.is(await outcomeOf(guard.doubt()), 'unreachable');
  store.answer = 'time';
  assert.is(await outcomeOf(guard.doubt()), null);
});

test('an answer that took long says nothing against a clock that is known', async () => {
  const { guard, store, at } = machine();
  await guard.measure();
  at.store += 8_000;
  store.delay = 9_000;
  await guard.measure();
  assert.is(guard.doubt(), null);
  store.delay = 100;
  await guard.measure();
  assert.is(await outcomeOf(guard.doubt()), 'clock_skew');
});

test('a store that does not tell its time judges nobody, which is said once', async () => {
  const { guard, store, at, lines } = machine();
  store.answer = 'nothing';
  assert.is(await outcomeOf(guard.doubt()), null);
  at.wall += 3_600_000;
  assert.is(guard.doubt(), null);
  await guard.measure();
  assert.is(lines.length, 1);
  await guard.check();
});

test('operators are told by how much, and what to do', async () => {
  const { guard, at, metrics } = machine();
  await guard.check();
  at.wall -= 15_000;
  const message = await guard.check().then(
    () => '',
    (error: Error) => error.message,
  );
  assert.match(message, /15 s behind the event store's.*CLOCK_SKEW_SECONDS.*NTP/);
  const text = await metrics.registry.metrics();
  assert.match(text, /counterfoil_clock_skew_seconds -15\./);
});

test.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createBackOff, inParallel, runForever, sleep, unlessAborted } from './run-forever.ts';

const test = suite('waiting and going on');

const limits = { firstMilliseconds: 100, lastMilliseconds: 500 };
const brief = { firstMilliseconds: 1, lastMilliseconds: 1 };

test('a sleep ends when it is called off', async () => {
  const abort = new AbortController();
  const long = sleep(600_000, abort.signal);
  abort.abort();
  await long;
  await sleep(600_000, abort.signal);
});

test('waits double up to the last and are shortened at random, by half at most', () => {
  const draws = [0.5, 0.5, 0, 0.999, 0.5];
  const backOff = createBackOff(limits, () => draws.shift() ?? 0);
  assert.equal(Array.from({ length: 5 }, backOff.next), [75, 150, 200, 499.75, 375]);
});

test('waits start over after an attempt that was of use', () => {
  const backOff = createBackOff(limits, () => 0);
  backOff.next();
  backOff.next();
  backOff.reset();
  assert.is(backOff.next(), 50);
});

/** Takes the turns that a list says, the last of which ends the loop. */
async function turns(list: readonly (() => number)[]) {
  const abort = new AbortController();
  const logged: { times: number; text: string }[] = [];
  const failures: string[] = [];
  let taken = 0;
  await runForever(
    async () => {
      const turn = list[taken];
      taken += 1;
      if (taken === list.length) abort.abort();
      return turn?.() ?? 0;
    },
    {
      name: 'work',
      log: {
        warn: ({ times }: { times: number }, text: string) => logged.push({ times, text }),
      } as never,
      signal: abort.signal,
      backOff: brief,
      onFailure: (error) => {
        failures.push(String(error));
      },
    },
  );
  return { taken, logged, failures };
}

const fails = (message: string) => () => {
  throw new Error(message);
};

test('turns follow each other until the signal aborts', async () => {
  const { taken, logged } = await turns([() => 0, () => 1, () => 600_000]);
  assert.is(taken, 3);
  assert.equal(logged, []);
});

test('a turn that fails is followed by another, and the same failure is logged once', async () => {
  const { taken, logged, failures } = await turns([
    fails('away'),
    fails('away'),
    fails('full'),
    () => 0,
    () => 0,
  ]);
  assert.is(taken, 5);
  assert.equal(failures, ['Error: away', 'Error: away', 'Error: full']);
  const text = 'work failed and tries again';
  assert.equal(logged, [
    { times: 1, text },
    { times: 1, text },
  ]);
});

test('what fails because it is to end is no failure', async () => {
  const { failures, logged } = await turns([() => 0, fails('aborted')]);
  assert.equal(failures, []);
  assert.equal(logged, []);
});

test('work in parallel fails when nothing of it is under way any more', async () => {
  const ended: number[] = [];
  const outcome = inParallel([1, 2, 3, 4], 2, async (thing) => {
    if (thing === 1) throw new Error('one failed');
    await sleep(1, new AbortController().signal);
    ended.push(thing);
  });
  assert.match(String(await outcome.catch((error) => error)), /one failed/);
  assert.equal(ended, [2, 3, 4]);
});

test('an outcome that comes in time is passed on', async () => {
  const { signal } = new AbortController();
  assert.is(await unlessAborted(Promise.resolve(7), signal), 7);
  const failing = unlessAborted(Promise.reject(new Error('no')), signal);
  assert.match(String(await failing.catch((error) => error)), /no/);
});

test('an outcome that is not waited for any more is the reason', async () => {
  const abort = new AbortController();
  const never = new Promise<never>(() => undefined);
  const waiting = unlessAborted(never, abort.signal).catch((error) => error);
  abort.abort(new Error('enough'));
  assert.match(String(await waiting), /enough/);
  const late = unlessAborted(Promise.reject(new Error('unheard')), abort.signal);
  assert.match(String(await late.catch((error) => error)), /enough/);
});

test.run();

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ProcessExit } from './guarded-process.ts';
import { keepRunning, type Running } from './keep-running.ts';
import { eventually } from './test-process.ts';

const test = suite('keep running');
const RESTART = { initialDelayMs: 1, maxDelayMs: 4 };

interface Fake extends Running {
  crash(): void;
}

function fake(pid: number): Fake {
  let settle: (exit: ProcessExit) => void = () => undefined;
  const exited = new Promise<ProcessExit>((resolve) => {
    settle = resolve;
  });
  return {
    pid,
    exited,
    stop: async () => settle({ code: 0, signal: null }),
    crash: () => settle({ code: null, signal: 'SIGKILL' }),
  };
}

test('starts again whatever ends without being asked to, and reports it', async () => {
  const started: Fake[] = [];
  const reports: string[] = [];
  const kept = keepRunning({
    name: 'api',
    restart: RESTART,
    report: (sentence) => void reports.push(sentence),
    start: async () => {
      started.push(fake(started.length + 1));
      return started.at(-1) ?? fake(0);
    },
  });
  assert.is((await kept.ready).pid, 1);
  assert.is(kept.restarts(), 0);
  started[0]?.crash();
  await eventually('a second one', () => kept.pid() === 2);
  started[1]?.crash();
  await eventually('a third one', () => kept.pid() === 3);
  assert.is(kept.restarts(), 2);
  assert.equal(reports, Array(2).fill('api ended unexpectedly (signal SIGKILL)'));
  await kept.stop();
});

test('stops for good, without a report', async () => {
  let starts = 0;
  const reports: string[] = [];
  const kept = keepRunning({
    name: 'api',
    restart: RESTART,
    report: (sentence) => void reports.push(sentence),
    start: async () => {
      starts += 1;
      return fake(starts);
    },
  });
  await kept.ready;
  await kept.stop();
  await kept.stop();
  assert.is(starts, 1);
  assert.is(kept.pid(), undefined);
  assert.equal(reports, []);
});

test('gives up, with the reason, when it never comes up', async () => {
  let starts = 0;
  const kept = keepRunning({
    name: 'api',
    restart: { ...RESTART, startAttemptsMax: 4 },
    report: () => undefined,
    start: async () => {
      starts += 1;
      throw new Error(`failure ${starts}`);
    },
  });
  const failure = await kept.ready.catch((error: unknown) => error);
  assert.match(String(failure), 'failure 4');
  assert.is(starts, 4);
  await kept.stop();
});

test('does not give up once it has been up', async () => {
  let starts = 0;
  let first: Fake | undefined;
  const kept = keepRunning({
    name: 'api',
    restart: { ...RESTART, startAttemptsMax: 1 },
    report: () => undefined,
    start: async () => {
      starts += 1;
      if (starts > 1 && starts < 5) throw new Error('the port is taken');
      const running = fake(starts);
      first ??= running;
      return running;
    },
  });
  await kept.ready;
  first?.crash();
  await eventually('it is up again', () => kept.pid() === 5);
  await kept.stop();
});

test('tells a start that it is no longer wanted', async () => {
  const kept = keepRunning({
    name: 'api',
    restart: RESTART,
    report: () => undefined,
    start: (signal) =>
      new Promise<Fake>((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('given up')));
      }),
  });
  await kept.stop();
  const failure = await kept.ready.catch((error: unknown) => error);
  assert.match(String(failure), 'stopped before it was ready');
});

test('ends what came up just when it was being stopped', async () => {
  const late = fake(1);
  let comeUp: () => void = () => undefined;
  const kept = keepRunning({
    name: 'api',
    restart: RESTART,
    report: () => undefined,
    start: () =>
      new Promise<Fake>((resolve) => {
        comeUp = () => resolve(late);
      }),
  });
  const stopped = kept.stop();
  comeUp();
  await stopped;
  assert.equal(await late.exited, { code: 0, signal: null });
});

test.run();

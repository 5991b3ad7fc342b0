import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createHealth, within } from './health.ts';

const test = suite('health');

const check = (name: string, required: boolean, run: () => Promise<void>) => ({
  name,
  required,
  check: run,
});
const passes = async () => {};
const fails = async () => {
  throw new Error('down');
};
const hangs = () => new Promise<void>(() => {});

test('is ready when every required check passes', async () => {
  const report = createHealth([check('a', true, passes), check('b', false, fails)]);
  assert.equal(await report(), {
    ready: true,
    checks: [
      { name: 'a', required: true, status: 'ok' },
      { name: 'b', required: false, status: 'failing', message: 'down' },
    ],
  });
});

test('is not ready when a required check fails', async () => {
  assert.is((await createHealth([check('a', true, fails)])()).ready, false);
});

test('a check that does not answer fails, and holds up nobody', async () => {
  const report = await createHealth([check('a', true, hangs), check('b', true, passes)], 10)();
  assert.is(report.ready, false);
  assert.is(report.checks[0]?.message, 'no answer within 10 ms');
  assert.is(report.checks[1]?.status, 'ok');
});

test('callers at the same time share one run; the next caller gets a new one', async () => {
  let runs = 0;
  const report = createHealth([
    check('a', true, async () => {
      runs += 1;
    }),
  ]);
  const [first, second] = await Promise.all([report(), report()]);
  assert.is(first, second);
  assert.is(runs, 1);
  await report();
  assert.is(runs, 2);
});

test('within gives the outcome of a promise that is in time', async () => {
  assert.is(await within(1_000, Promise.resolve(3)), 3);
});

test.run();

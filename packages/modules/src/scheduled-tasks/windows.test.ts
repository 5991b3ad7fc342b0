import type { Instant } from '@counterfoil/kernel';
import { rejection } from '@counterfoil/testkit';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { dueAt, nextDueAfter, startOfWindow, windowFrom } from './rhythm.ts';
import { scheduledWorld } from './test-scheduled-world.ts';
import { givenIntervals } from './values.ts';

const test = suite('windows of exports');

const shortOf = (instant: string): string => instant.slice(0, 16);

test('a window is closed when it is due, with its run planned at that place in the log', async () => {
  const { create, pass, runs } = await scheduledWorld();
  const { id } = await create();
  await pass('2026-01-01T01:14:59.999Z');
  assert.equal(await runs(), []);
  await pass('2026-01-01T01:15:00.000Z');
  await pass('2026-01-01T02:15:00.000Z');
  const [first, second] = await runs();
  assert.equal(
    [first?.scheduled_task_id, first?.start, first?.end, first?.previous],
    [id, '2026-01-01T00:00:00.000Z', '2026-01-01T01:00:00.000Z', null],
  );
  assert.equal(second?.previous, { end: first?.end, position: first?.position });
  assert.ok(BigInt(second?.position ?? 0) > BigInt(first?.position ?? 0));
});

test('after an outage the windows that are missing come one after the other, and none twice', async () => {
  const { create, pass, runs } = await scheduledWorld();
  await create();
  await pass('2026-01-01T02:20:00.000Z');
  // Longer than one decision closes.
  await pass('2026-01-07T05:15:00.000Z');
  await pass('2026-01-07T05:15:00.000Z');
  const made = await runs();
  assert.is(made.length, 6 * 24 + 5);
  for (const [index, run] of made.entries()) {
    const before = made[index - 1];
    if (!before) continue;
    assert.is(run.start, before.end);
    assert.equal(run.previous, { end: before.end, position: before.position });
  }
});

test('a pause closes nothing, and its windows come with the first one that is due afterwards', async () => {
  const { create, call, pass, runs } = await scheduledWorld();
  const { id } = await create();
  const put = (enabled: boolean) =>
    call('PUT /tasks/scheduled/{id}', { params: { id }, body: { enabled } });
  await pass('2026-01-01T01:15:00.000Z');
  await put(false);
  await pass('2026-01-01T05:20:00.000Z');
  assert.is((await runs()).length, 1);
  assert.is((await put(true)).next_run_at, '2026-01-01T06:15:00.000Z');
  await pass('2026-01-01T06:14:00.000Z');
  assert.is((await runs()).length, 1);
  await pass('2026-01-01T06:15:00.000Z');
  const ends = (await runs()).map(({ end }) => shortOf(end).slice(11));
  assert.equal(ends, ['01:00', '02:00', '03:00', '04:00', '05:00', '06:00']);
});

test('days are those of the zone, however long they are', async () => {
  const { create, pass, runs } = await scheduledWorld();
  await create({ interval: 'daily', timezone: 'Europe/Berlin' });
  await pass('2026-03-30T23:00:00.000Z');
  const [first, ...others] = await runs();
  assert.equal(
    [first?.start, first?.end].map((at) => shortOf(at ?? '')),
    ['2025-12-31T23:00', '2026-01-01T23:00'],
  );
  const last = others.slice(-2).map(({ start, end }) => `${shortOf(start)} ${shortOf(end)}`);
  // On 29 March the clock goes ahead: the day has 23 hours.
  assert.equal(last, ['2026-03-28T23:00 2026-03-29T22:00', '2026-03-29T22:00 2026-03-30T22:00']);
});

test('a run by hand takes its range, or what runs up to now, and leaves the windows as they are', async () => {
  const { create, call, pass, runs, world } = await scheduledWorld();
  const { id } = await create();
  await pass('2026-01-01T03:20:00.000Z');
  const before = await runs();
  const run = (body: object) => call('POST /tasks/scheduled/{id}/run', { params: { id }, body });
  const asked = await run({});
  assert.equal([asked.start_time, asked.end_time], ['2026-01-01T03:00:00.000Z', world.now]);
  const range = { start_time: '2025-12-01T00:00:00Z', end_time: '2025-12-02T00:00:00Z' };
  await run(range);
  const made = (await runs()).slice(before.length);
  assert.equal(
    made.map(({ is_scheduled, previous, start }) => [is_scheduled, previous, start]),
    [
      [false, null, '2026-01-01T03:00:00.000Z'],
      [false, null, '2025-12-01T00:00:00.000Z'],
    ],
  );
  const future = { ...range, end_time: '2027-01-01T00:00:00Z' };
  assert.is((await rejection(run(future))).errors?.[0]?.pointer, '/end_time');
  await pass('2026-01-01T04:15:00.000Z');
  assert.is((await runs()).at(-1)?.start, '2026-01-01T03:00:00.000Z');
});

const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe'];
const anInstant = fc
  .date({ min: new Date('2024-01-01'), max: new Date('2028-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString() as Instant);

test('windows tile time in every zone, and each is due once', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...givenIntervals),
      fc.constantFrom(...zones),
      anInstant,
      (interval, timezone, at) => {
        const rhythm = { interval, timezone };
        const start = startOfWindow(rhythm, at);
        const window = windowFrom(rhythm, start);
        assert.ok(start <= at && at < window.end);
        assert.is(startOfWindow(rhythm, window.end), window.end);
        const next = nextDueAfter(rhythm, at);
        assert.ok(next > at);
        assert.ok(next <= dueAt(rhythm, windowFrom(rhythm, window.end)));
      },
    ),
    { numRuns: 200 },
  );
});

test.run();

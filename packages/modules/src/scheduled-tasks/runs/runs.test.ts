import { type Instant, millisecondsOf } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { scheduledWorld } from '../test-scheduled-world.ts';
import {
  attemptsMaximum,
  completeRun,
  type ExportRunDecision,
  failAttempt,
  giveUp,
  noteRows,
  startAttempt,
} from './decisions.ts';
import { exportRun } from './export-run.ts';
import { exportRunView } from './view.ts';

const test = suite('runs of exports');

const done = {
  files: [{ key: 'events/a.csv', rows: 3, bytes: 120, sha256: 'abc' }],
  manifest_key: 'events/a.csv.manifest.json',
  generation: 1,
  is_new: true,
  rows: 3,
  late_rows: null,
};

/** A run of a schedule, or one that somebody asked for, and what is done with it. */
async function aRun(isScheduled = true) {
  const { create, call, pass, runs, request, world } = await scheduledWorld();
  const { id } = await create();
  if (isScheduled) await pass('2026-01-01T01:15:00.000Z');
  else await call('POST /tasks/scheduled/{id}/run', { params: { id } });
  const [planned] = await runs();
  const runId = planned?.id ?? '';
  const decide = (decision: ExportRunDecision) => request().execute(exportRun, runId, decision);
  return {
    world,
    decide,
    shown: async () => exportRunView(await request().load(exportRun, runId)),
    state: async () => request().load(exportRun, runId),
    /** The failures that somebody is told. */
    told: () =>
      world.store.log.filter(
        ({ type, data }) =>
          type === 'ExportAttemptFailed' && (data as { is_failure: boolean }).is_failure,
      ),
    /** Attempts that fail, each as soon as it may be made. */
    failTimes: async (times: number) => {
      const waits: number[] = [];
      for (let time = 0; time < times; time += 1) {
        const { state } = await decide(startAttempt);
        await decide(failAttempt(state?.attempts ?? 0, 'The storage is away.'));
        const retry = (await request().load(exportRun, runId))?.retry_at;
        if (!retry) break;
        waits.push((millisecondsOf(retry) - millisecondsOf(world.now)) / 1_000);
        world.now = retry;
      }
      return waits;
    },
  };
}

test('a run is a task with the states and the counts of the contract', async () => {
  const { decide, shown } = await aRun();
  assert.is((await shown()).task_status, 'PENDING');
  await decide(startAttempt);
  await decide(noteRows(1, 2));
  const processing = await shown();
  assert.equal([processing.task_status, processing.processed_records], ['PROCESSING', 2]);
  await decide(completeRun(1, done));
  const { metadata, ...task } = await shown();
  assert.equal(
    [task.task_status, task.total_records, task.failed_records, task.file_name],
    ['COMPLETED', 3, 0, 'events/a.csv'],
  );
  assert.equal(metadata, {
    start_time: '2026-01-01T00:00:00.000Z',
    end_time: '2026-01-01T01:00:00.000Z',
    mode: 'scheduled',
    attempts: '1',
    file_size: '120',
    manifest_key: 'events/a.csv.manifest.json',
    generation: '1',
    written: 'true',
  });
});

test('attempts wait longer and longer, the last of them is told once, and a window is tried for ever', async () => {
  const { failTimes, told, shown, decide } = await aRun();
  assert.equal(await failTimes(attemptsMaximum - 1), [10, 30, 60, 120, 300, 600, 1_200]);
  assert.equal(told(), []);
  assert.is((await shown()).task_status, 'PROCESSING');
  assert.equal(await failTimes(3), [1_800, 1_800, 1_800]);
  assert.is(told().length, 1);
  const failed = await shown();
  assert.equal([failed.task_status, failed.error_summary], ['FAILED', 'The storage is away.']);
  const { state } = await decide(startAttempt);
  await decide(completeRun(state?.attempts ?? 0, done));
  assert.is((await shown()).task_status, 'COMPLETED');
});

test('a run that somebody asked for is given up after its attempts, or at once where none can succeed', async () => {
  const { failTimes, state, told } = await aRun(false);
  assert.is((await failTimes(attemptsMaximum)).length, attemptsMaximum - 1);
  assert.equal([(await state())?.is_open, told().length], [false, 1]);
  const other = await aRun(false);
  await other.decide(startAttempt);
  await other.decide(failAttempt(1, 'The bucket is not there.', true));
  assert.equal([(await other.state())?.is_open, other.told().length], [false, 1]);
});

test('nothing is begun before its time, and what comes late from another attempt changes nothing', async () => {
  const { decide, world, state } = await aRun();
  await decide(startAttempt);
  await decide(failAttempt(1, 'away'));
  assert.equal((await decide(startAttempt)).events, []);
  world.now = '2026-01-01T02:00:00.000Z' as Instant;
  await decide(startAttempt);
  for (const late of [failAttempt(1, 'late'), noteRows(1, 9), completeRun(1, done)]) {
    assert.equal((await decide(late)).events, []);
  }
  await decide(completeRun(2, done));
  for (const late of [
    startAttempt,
    failAttempt(2, 'late'),
    noteRows(2, 9),
    completeRun(2, done),
    giveUp(''),
  ]) {
    assert.equal((await decide(late)).events, []);
  }
  assert.is((await state())?.attempts, 2);
});

test.run();

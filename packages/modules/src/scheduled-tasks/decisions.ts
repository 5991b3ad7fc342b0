import {
  derivedId,
  existing,
  type Instant,
  invalidField,
  invalidOperation,
  invariant,
  notFound,
  type Span,
  type TaskId,
} from '@counterfoil/kernel';
import { dueAt, nextDueAfter, startOfWindow, windowFrom } from './rhythm.ts';
import type {
  ScheduledTask,
  ScheduledTaskDecision,
  ScheduledTaskEvent,
  ScheduledTaskEventData,
  ScheduledTaskState,
} from './scheduled-task.ts';

/** The task. Throws 404 where there is none. */
export function existingTask(state: ScheduledTaskState, id: string): ScheduledTask {
  if (!state) throw notFound('scheduled task', id);
  return state;
}

/** A task that may be changed and run. Throws 404, and 400 for one that is archived (E 4.18). */
function writableTask(state: ScheduledTaskState, id: string): ScheduledTask {
  const task = existingTask(state, id);
  if (task.status === 'published') return task;
  throw invalidOperation(`The scheduled task ${id} is archived: it can be read but not changed.`, {
    reason: 'archived',
  });
}

type NewTask = Omit<ScheduledTaskEventData<'ScheduledTaskCreated'>, 'start' | 'next_at'>;

/** Creates a task. Its first window is the one that runs. */
export const createScheduledTask =
  (data: NewTask): ScheduledTaskDecision =>
  (state, at) => {
    invariant(state === null, `scheduled task ${data.id} is created twice`);
    const start = startOfWindow(data, at);
    const next_at = data.enabled ? dueAt(data, windowFrom(data, start)) : null;
    return [{ type: 'ScheduledTaskCreated', data: { ...data, start, next_at } }];
  };

/**
 * Resumes or pauses a task (specification, "Update a scheduled task"). It is so already: no event. The windows of the pause are taken with the
 * next one that is due (D79).
 */
export const enableScheduledTask =
  (id: string, enabled: boolean): ScheduledTaskDecision =>
  (state, at) => {
    const task = writableTask(state, id);
    if (task.enabled === enabled) return [];
    if (!enabled) return [{ type: 'ScheduledTaskPaused', data: {} }];
    const first = dueAt(task, windowFrom(task, task.closed_until));
    const next = nextDueAfter(task, at);
    return [{ type: 'ScheduledTaskResumed', data: { next_at: next > first ? next : first } }];
  };

/** Takes a task out of use. It is already: no event. What was closed before is still exported. */
export const archiveScheduledTask =
  (id: string): ScheduledTaskDecision =>
  (state) =>
    existingTask(state, id).status === 'archived'
      ? []
      : [{ type: 'ScheduledTaskArchived', data: {} }];

/** Windows that one decision closes at most; a longer outage takes several. */
const windowsAtOnce = 100;

/** The run of a window, known by its task and the window's end. */
export const runOfWindow = (taskId: string, end: Instant): TaskId =>
  derivedId('task', `${taskId}\n${end}`);

/** Closes the windows that are due by now, one after the other. None is, no event. */
export const closeDueWindows: ScheduledTaskDecision = (state, at) => {
  const task = existing(state, 'scheduled task');
  if (task.next_at === null || task.next_at > at) return [];
  const closed: ScheduledTaskEvent[] = [];
  let window = windowFrom(task, task.closed_until);
  while (closed.length < windowsAtOnce && dueAt(task, window) <= at) {
    const next = windowFrom(task, window.end);
    const data = {
      run_id: runOfWindow(task.id, window.end),
      ...window,
      next_at: dueAt(task, next),
    };
    closed.push({ type: 'ExportWindowDue', data });
    window = next;
  }
  return closed;
};

/** The range of a run that was asked for without one: the interval that runs, up to now (D84). */
const runningRange = (task: ScheduledTask, now: Instant): Span => ({
  start: startOfWindow(task, now),
  end: now,
});

/** Asks for a run of a range, or of the interval that runs. Throws 400 for an archived task, or a range that is not over. */
export const requestRun =
  (id: string, run_id: TaskId, range: Span | null): ScheduledTaskDecision =>
  (state, at) => {
    const task = writableTask(state, id);
    const { start, end } = range ?? runningRange(task, at);
    if (end > at) throw invalidField('/end_time', 'must not lie in the future');
    return [{ type: 'ExportRunRequested', data: { run_id, start, end } }];
  };

import { existing, invalidOperation, invariant, notFound } from '@counterfoil/kernel';
import type { TaskEventData } from './events.ts';
import { type ImportTask, rowsDone, type TaskDecision, type TaskState } from './task.ts';
import type { TaskStatus } from './values.ts';

/** The task of a state. Throws 404 where there is none. */
export function requireTask(state: TaskState, id: string): ImportTask {
  if (!state) throw notFound('task', id);
  return state;
}

/** Creates a task, which waits. */
export const createTask =
  (data: TaskEventData<'ImportCreated'>): TaskDecision =>
  (state) => {
    invariant(state === null, `task ${data.id} is created twice`);
    return [{ type: 'ImportCreated', data }];
  };

const wrongState = (message: string) => invalidOperation(message, { reason: 'task_state' });

/**
 * Throws 400 unless a task still waits for its file. One whose file was lost takes the same again, so that the lines that
 * are done stay what they are.
 */
export function refuseUnlessAwaitingFile({ id, file_url, file, task_status }: ImportTask) {
  if (file_url !== null) throw wrongState(`The task ${id} takes its file from its file_url.`);
  if (task_status === 'COMPLETED') throw wrongState(`The task ${id} is completed.`);
  if (file !== null && task_status !== 'FAILED') {
    throw wrongState(`The task ${id} has its file. Make another task for another file.`);
  }
}

/** Tells whether an import has everything that it needs to be carried out, and has not ended. */
export const isRunnable = ({ task_status, file, file_url }: ImportTask): boolean =>
  task_status === 'PROCESSING' ||
  (task_status === 'PENDING' && (file !== null || file_url !== null));

/** Throws 400 for an import that is carried out, or is about to be. */
export function refuseWhileRunnable(task: ImportTask): void {
  if (isRunnable(task)) throw wrongState(`The task ${task.id} is under way. Stop it first.`);
}

/** The whole file is there. Lines that are done already were of one with the same contents, or 400. */
export const receiveFile =
  (file: TaskEventData<'ImportFileReceived'>): TaskDecision =>
  (state) => {
    const record = existing(state, 'task');
    const { id, file: before } = record;
    if (before?.sha256 === file.sha256) return [];
    if (before !== null && rowsDone(record) > 0) {
      throw wrongState(
        `The task ${id} has carried out rows of another file. Make another task for this one.`,
      );
    }
    return [{ type: 'ImportFileReceived', data: file }];
  };

/** The task is being carried out. One that is already stays as it is; one that has ended does too. */
export const startTask = (): TaskDecision => (state) =>
  state?.task_status === 'PENDING' ? [{ type: 'ImportStarted', data: {} }] : [];

/** Some more rows were carried out. Nothing, where the task has come further or ended meanwhile. */
export const noteProgress =
  (data: TaskEventData<'ImportProgressed'>): TaskDecision =>
  (state) => {
    const record = existing(state, 'task');
    return record.task_status === 'PROCESSING' && rowsDone(record) === data.from_row
      ? [{ type: 'ImportProgressed', data }]
      : [];
  };

/** The file has so many rows, and all were carried out. Nothing, where the task has ended meanwhile. */
export const completeTask =
  (rows: number): TaskDecision =>
  (state) => {
    const record = existing(state, 'task');
    return record.task_status === 'PROCESSING' && rowsDone(record) === rows
      ? [{ type: 'ImportCompleted', data: {} }]
      : [];
  };

const summaryMaximum = 1_024;

/** It cannot go on. The reason is shown to the caller. Nothing, where it has ended already. */
export const failTask =
  (summary: string): TaskDecision =>
  (state) => {
    const { task_status: status } = existing(state, 'task');
    if (status !== 'PENDING' && status !== 'PROCESSING') return [];
    return [{ type: 'ImportFailed', data: { error_summary: summary.slice(0, summaryMaximum) } }];
  };

/** No file has come for as long as files are kept. Nothing, where there is one or the task has ended meanwhile. */
export const abandonTask =
  (hours: number): TaskDecision =>
  (state, at) => {
    const { task_status: status, file, file_url } = existing(state, 'task');
    if (status !== 'PENDING' || file !== null || file_url !== null) return [];
    const summary = `No file has come within ${hours / 24} days. Send it, and have the task go on.`;
    return failTask(summary)(state, at);
  };

/**
 * Sets the state that a caller asks for: FAILED stops a task, PENDING or PROCESSING has a failed import go on. A task
 * that is in the state already, or on its way there, stays as it is.
 */
export const setTaskStatus =
  (id: string, wanted: TaskStatus): TaskDecision =>
  (state, at) => {
    const { task_status: status } = requireTask(state, id);
    if (status === wanted) return [];
    switch (wanted) {
      case 'COMPLETED':
        throw wrongState(`The task ${id} is ${status}: it completes by itself.`);
      case 'FAILED':
        if (status === 'COMPLETED') throw wrongState(`The task ${id} is completed.`);
        return failTask('Stopped by request.')(state, at);
      case 'PENDING':
      case 'PROCESSING':
        if (status === 'COMPLETED') throw wrongState(`The task ${id} is completed.`);
        if (status !== 'FAILED') return [];
        return [{ type: 'ImportResumed', data: {} }];
      default:
        return wanted satisfies never;
    }
  };

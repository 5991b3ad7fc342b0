import { existing, invalidOperation, invariant, notFound } from '@counterfoil/kernel';
import type { TaskEventData } from './events.ts';
import type { TaskDecision, TaskRecord, TaskState } from './task.ts';
import type { TaskStatus } from './values.ts';

/** The task of a state. Throws 404 where there is none. */
export function requireTask(state: TaskState, id: string): TaskRecord {
  if (!state) throw notFound('task', id);
  return state;
}

/** Creates a task, which waits. */
export const createTask =
  (data: TaskEventData<'TaskCreated'>): TaskDecision =>
  (state) => {
    invariant(state === null, `task ${data.id} is created twice`);
    return [{ type: 'TaskCreated', data }];
  };

const wrongState = (message: string) => invalidOperation(message, { reason: 'task_state' });

/**
 * Throws 400 unless a task still waits for its file. One whose file was lost takes the same again, so that the lines that
 * are done stay what they are.
 */
export function refuseUnlessAwaitingFile({
  id,
  task_type,
  file_url,
  file,
  task_status,
}: TaskRecord) {
  if (task_type !== 'IMPORT') throw wrongState(`The task ${id} is an export and takes no file.`);
  if (file_url !== null) throw wrongState(`The task ${id} takes its file from its file_url.`);
  if (task_status === 'COMPLETED') throw wrongState(`The task ${id} is completed.`);
  if (file !== null && task_status !== 'FAILED') {
    throw wrongState(`The task ${id} has its file. Make another task for another file.`);
  }
}

/** The whole file is there. Lines that are done already were of one with the same contents, or 400. */
export const receiveFile =
  (file: TaskEventData<'TaskFileReceived'>): TaskDecision =>
  (state) => {
    const { id, line, file: before } = existing(state, 'task');
    if (before?.sha256 === file.sha256) return [];
    if (before !== null && line > 0) {
      throw wrongState(
        `The task ${id} has carried out lines of another file. Make another task for this one.`,
      );
    }
    return [{ type: 'TaskFileReceived', data: file }];
  };

/** The task is being carried out. One that is already stays as it is; one that has ended does too. */
export const startTask = (): TaskDecision => (state) =>
  state?.task_status === 'PENDING' ? [{ type: 'TaskStarted', data: {} }] : [];

/** Some more rows were carried out. Nothing, where the task has come further or ended meanwhile. */
export const noteProgress =
  (data: TaskEventData<'TaskProgressed'>): TaskDecision =>
  (state) => {
    const { task_status: status, line } = existing(state, 'task');
    return status === 'PROCESSING' && line === data.from_line
      ? [{ type: 'TaskProgressed', data }]
      : [];
  };

/** Everything was carried out. Without counts, those of its progress stand. Nothing, where it has ended already. */
export const completeTask =
  ({
    successful,
    failed,
    metadata = {},
  }: Partial<TaskEventData<'TaskCompleted'>> = {}): TaskDecision =>
  (state) => {
    const before = existing(state, 'task');
    if (before.task_status !== 'PROCESSING') return [];
    const counts = {
      successful: successful ?? before.successful,
      failed: failed ?? before.failed,
    };
    return [{ type: 'TaskCompleted', data: { ...counts, metadata } }];
  };

const summaryMaximum = 1_024;

/** It cannot go on. The reason is shown to the caller. Nothing, where it has ended already. */
export const failTask =
  (summary: string): TaskDecision =>
  (state) => {
    const { task_status: status } = existing(state, 'task');
    if (status !== 'PENDING' && status !== 'PROCESSING') return [];
    return [{ type: 'TaskFailed', data: { error_summary: summary.slice(0, summaryMaximum) } }];
  };

/**
 * Sets the state that a caller asks for: FAILED stops a task, PENDING or PROCESSING has a failed import go on. A task
 * that is in the state already, or on its way there, stays as it is.
 */
export const setTaskStatus =
  (id: string, wanted: TaskStatus): TaskDecision =>
  (state, at) => {
    const { task_status: status, task_type: type } = requireTask(state, id);
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
        if (type === 'EXPORT') {
          throw wrongState(`The task ${id} is a run of an export. Run its scheduled task again.`);
        }
        return [{ type: 'TaskResumed', data: {} }];
      default:
        return wanted satisfies never;
    }
  };

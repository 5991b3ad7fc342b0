import {
  aggregate,
  createdStamps,
  type Decision,
  existing,
  type Instant,
  type KeyId,
  type RecordStamps,
  type Stamped,
  updatedStamps,
  withChanges,
} from '@counterfoil/kernel';
import { type TaskEvent, type TaskEventData, taskEvents } from './events.ts';
import type { TaskStatus } from './values.ts';

/** A file as a task knows it. The bytes lie beside the log (ADR 52). */
export interface TaskFile {
  readonly bytes: number;
  readonly sha256: string;
}

/** An import as its events make it. */
export interface ImportTask extends TaskEventData<'ImportCreated'>, RecordStamps {
  readonly status: 'published';
  readonly task_status: TaskStatus;
  /** The key in whose name it is carried out: that of whoever asked for it last. */
  readonly key_id: KeyId | null;
  /** Null until the whole file is there. */
  readonly file: TaskFile | null;
  /** The line on which the last row begins that was carried out. */
  readonly line: number;
  readonly successful: number;
  readonly failed: number;
  readonly read_bytes: number;
  readonly bad_bytes: number;
  readonly error_summary: string | null;
  readonly started_at: Instant | null;
  readonly completed_at: Instant | null;
  readonly failed_at: Instant | null;
}

/** Null until the task is created. */
export type TaskState = ImportTask | null;
export type TaskDecision = Decision<TaskState, TaskEvent>;

const created = ({
  data,
  stamp,
}: Stamped<Extract<TaskEvent, { type: 'ImportCreated' }>>): ImportTask => ({
  ...data,
  ...createdStamps(stamp),
  status: 'published',
  task_status: 'PENDING',
  key_id: stamp.actor.key_id,
  file: null,
  line: 0,
  successful: 0,
  failed: 0,
  read_bytes: 0,
  bad_bytes: 0,
  error_summary: null,
  started_at: null,
  completed_at: null,
  failed_at: null,
});

/** The counts of a task after some more rows. */
const progressed = (
  { successful, failed }: ImportTask,
  { from_row: _, ...data }: TaskEventData<'ImportProgressed'>,
): Partial<ImportTask> => ({
  ...data,
  successful: successful + data.successful,
  failed: failed + data.failed,
});

function changesOf(
  before: ImportTask,
  event: Stamped<Exclude<TaskEvent, { type: 'ImportCreated' }>>,
): Partial<ImportTask> {
  const { occurred_at: at, actor } = event.stamp;
  switch (event.type) {
    case 'ImportFileReceived':
      return { file: event.data };
    case 'ImportStarted':
      return { task_status: 'PROCESSING', started_at: before.started_at ?? at };
    case 'ImportProgressed':
      return progressed(before, event.data);
    case 'ImportCompleted':
      return { task_status: 'COMPLETED', completed_at: at };
    case 'ImportFailed':
      return { task_status: 'FAILED', failed_at: at, ...event.data };
    case 'ImportResumed':
      return { task_status: 'PENDING', failed_at: null, error_summary: null, key_id: actor.key_id };
    default:
      return event satisfies never;
  }
}

/**
 * An import: a file whose rows are carried out one after the other. Its times are the system's, as those of runs of exports: the work takes as long
 * as it takes, by no clock of an environment, and files are kept in real time.
 */
export const importTask = aggregate({
  name: 'import_task',
  scope: 'environment',
  clock: 'system',
  events: taskEvents,
  initial: null as TaskState,
  evolve: (state, event): TaskState => {
    if (event.type === 'ImportCreated') return created(event);
    const before = existing(state, 'task');
    return {
      ...withChanges<ImportTask>(before, changesOf(before, event)),
      ...updatedStamps(event.stamp),
    };
  },
});

/** The rows that were carried out or refused, which are the first of the file. */
export const rowsDone = ({
  successful,
  failed,
}: Pick<ImportTask, 'successful' | 'failed'>): number => successful + failed;

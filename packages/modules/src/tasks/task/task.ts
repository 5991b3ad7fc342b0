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

/** A task as its events make it. */
export interface TaskRecord extends TaskEventData<'TaskCreated'>, RecordStamps {
  readonly status: 'published';
  readonly task_status: TaskStatus;
  /** The key in whose name it is carried out: that of whoever asked for it last. */
  readonly key_id: KeyId | null;
  /** Null until the whole file is there. */
  readonly file: TaskFile | null;
  /** The last line up to which everything was carried out. */
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
export type TaskState = TaskRecord | null;
export type TaskDecision = Decision<TaskState, TaskEvent>;

const created = ({
  data,
  stamp,
}: Stamped<Extract<TaskEvent, { type: 'TaskCreated' }>>): TaskRecord => ({
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
  { successful, failed }: TaskRecord,
  { from_line: _, ...data }: TaskEventData<'TaskProgressed'>,
): Partial<TaskRecord> => ({
  ...data,
  successful: successful + data.successful,
  failed: failed + data.failed,
});

function changesOf(
  before: TaskRecord,
  event: Stamped<Exclude<TaskEvent, { type: 'TaskCreated' }>>,
): Partial<TaskRecord> {
  const { occurred_at: at, actor } = event.stamp;
  switch (event.type) {
    case 'TaskFileReceived':
      return { file: event.data };
    case 'TaskStarted':
      return { task_status: 'PROCESSING', started_at: before.started_at ?? at };
    case 'TaskProgressed':
      return progressed(before, event.data);
    case 'TaskCompleted': {
      const { metadata, ...counts } = event.data;
      return {
        ...counts,
        task_status: 'COMPLETED',
        completed_at: at,
        metadata: { ...before.metadata, ...metadata },
      };
    }
    case 'TaskFailed':
      return { task_status: 'FAILED', failed_at: at, ...event.data };
    case 'TaskResumed':
      return { task_status: 'PENDING', failed_at: null, error_summary: null, key_id: actor.key_id };
    default:
      return event satisfies never;
  }
}

/** A piece of work on a file: an import, or a run of an export. */
export const task = aggregate({
  name: 'task',
  scope: 'environment',
  events: taskEvents,
  initial: null as TaskState,
  evolve: (state, event): TaskState => {
    if (event.type === 'TaskCreated') return created(event);
    const before = existing(state, 'task');
    return {
      ...withChanges<TaskRecord>(before, changesOf(before, event)),
      ...updatedStamps(event.stamp),
    };
  },
});

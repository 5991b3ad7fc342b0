import { type EventOf, metadataSchema, type TaskId } from '@counterfoil/kernel';
import { z } from 'zod';
import { fileTypeSchema, onExistingSchema, taskTypeSchema } from './values.ts';

const count = z.number().int().nonnegative();
const taskId = z.string().transform((text) => text as TaskId);

export const taskEvents = {
  TaskCreated: z.object({
    id: taskId,
    task_type: taskTypeSchema,
    /** Of an import a kind of record; of an export what the scheduled task exports. */
    entity_type: z.string(),
    file_type: fileTypeSchema.nullable(),
    file_url: z.string().nullable(),
    file_name: z.string().nullable(),
    on_existing: onExistingSchema.nullable(),
    /** The scheduled task whose run it is; null for an import. */
    scheduled_task_id: z.string().nullable(),
    metadata: metadataSchema,
  }),
  /** The whole file is there. It lies beside the log; this says which it is. */
  TaskFileReceived: z.object({ bytes: count, sha256: z.string() }),
  TaskStarted: z.object({}),
  /**
   * Everything up to a line was carried out. `from_line` is where it went on: a process that has been overtaken says
   * something else than the record, and adds nothing.
   */
  TaskProgressed: z.object({
    from_line: count,
    line: count,
    successful: count,
    failed: count,
    /** Bytes of the file that have been read so far, and those of all bad rows so far. */
    read_bytes: count,
    bad_bytes: count,
  }),
  /** `metadata` is what a run of an export adds, such as the size of its file. */
  TaskCompleted: z.object({
    successful: count,
    failed: count,
    metadata: metadataSchema,
  }),
  TaskFailed: z.object({ error_summary: z.string() }),
  /** A failed import goes on where it was. */
  TaskResumed: z.object({}),
} as const;

export type TaskEvent = EventOf<typeof taskEvents>;
export type TaskEventData<Type extends TaskEvent['type']> = Extract<
  TaskEvent,
  { readonly type: Type }
>['data'];

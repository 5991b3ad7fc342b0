import { type EventOf, metadataSchema, type TaskId } from '@counterfoil/kernel';
import { z } from 'zod';
import { fileTypeSchema, importedEntitySchema, onExistingSchema } from './values.ts';

const count = z.number().int().nonnegative();
const taskId = z.string().transform((text) => text as TaskId);

export const taskEvents = {
  ImportCreated: z.object({
    id: taskId,
    entity_type: importedEntitySchema,
    file_type: fileTypeSchema,
    /** Null where the file is sent to the task. */
    file_url: z.string().nullable(),
    file_name: z.string().nullable(),
    on_existing: onExistingSchema,
    metadata: metadataSchema,
  }),
  /** The whole file is there. It lies beside the log; this says which it is. */
  ImportFileReceived: z.object({ bytes: count, sha256: z.string() }),
  ImportStarted: z.object({}),
  /**
   * Some more rows were carried out, of which the last begins on a line. `from_row` are the rows before: a process that
   * has been overtaken says something else than the record, and adds nothing.
   */
  ImportProgressed: z.object({
    from_row: count,
    line: count,
    successful: count,
    failed: count,
    /** Bytes of the file that have been read so far, and those of all bad rows so far. */
    read_bytes: count,
    bad_bytes: count,
  }),
  ImportCompleted: z.object({}),
  ImportFailed: z.object({ error_summary: z.string() }),
  /** A failed import goes on where it was. */
  ImportResumed: z.object({}),
} as const;

export type TaskEvent = EventOf<typeof taskEvents>;
export type TaskEventData<Type extends TaskEvent['type']> = Extract<
  TaskEvent,
  { readonly type: Type }
>['data'];

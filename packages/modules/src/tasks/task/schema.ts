import {
  instantSchema,
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
  requiredTextSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import {
  fileTypeSchema,
  importedEntitySchema,
  onExistingSchema,
  taskStatusSchema,
  taskTypeSchema,
} from './values.ts';

/** Body of POST /tasks (D82, D85). */
export const createTaskSchema = z
  .object({
    task_type: z
      .literal('IMPORT', 'must be "IMPORT": exports are made by scheduled tasks')
      .meta({ description: 'IMPORT; exports are made by scheduled tasks' }),
    entity_type: importedEntitySchema,
    file_type: fileTypeSchema,
    file_url: requiredTextSchema(2048)
      .nullish()
      .meta({ description: 'Where the file is fetched; absent: it is sent to the task' }),
    file_name: requiredTextSchema(255).nullish(),
    on_existing: onExistingSchema.default('refuse').meta({
      description: 'What becomes of a row whose record is there with other contents',
    }),
    metadata: metadataSchema.nullish().transform((given) => given ?? {}),
  })
  .meta({ id: 'CreateTask' });
export type CreateTask = z.output<typeof createTaskSchema>;

/** Body of PUT /tasks/{id}/status. */
export const taskStatusBodySchema = z
  .object({
    task_status: taskStatusSchema.meta({
      description: 'FAILED stops the task; PENDING has a failed import go on',
    }),
  })
  .meta({ id: 'SetTaskStatus' });

const count = z.number().int();

/** The task on the wire. */
export const taskSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    task_type: taskTypeSchema,
    entity_type: z.string(),
    task_status: taskStatusSchema,
    file_type: fileTypeSchema.optional(),
    file_url: z.string().optional(),
    file_name: z.string().optional(),
    on_existing: onExistingSchema.optional(),
    scheduled_task_id: z.string().optional(),
    total_records: count.optional().meta({ description: 'Rows of the file, once it has ended' }),
    processed_records: count,
    successful_records: count,
    failed_records: count,
    error_summary: z.string().optional(),
    line: count.meta({ description: 'Line on which the last row begins that was carried out' }),
    file_bytes: count.optional().meta({ description: 'Size of the file; absent: not there yet' }),
    file_sha256: z.string().optional(),
    read_bytes: count.meta({ description: 'Bytes of the file that have been read' }),
    started_at: instantSchema.optional(),
    completed_at: instantSchema.optional(),
    failed_at: instantSchema.optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'Task' });
export type Task = z.output<typeof taskSchema>;

/** Answer of PUT /tasks/{id}/file. */
export const taskFileSchema = z
  .object({
    task_id: z.string(),
    received_bytes: count.meta({ description: 'Bytes of the file that are there' }),
    complete: z.boolean().meta({ description: 'Whether this is the whole file' }),
  })
  .meta({ id: 'TaskFile' });

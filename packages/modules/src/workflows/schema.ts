import { instantSchema, recordStampsShape, recordStatusSchema } from '@counterfoil/kernel';
import { z } from 'zod';

export const workflowTypeSchema = z.enum([
  'import',
  'export',
  'catalog_import',
  'plan_sync',
  'backfill',
  'rerating',
]);

/** The states of the published clients. */
export const workflowStatusSchema = z.enum(['Running', 'Completed', 'Failed', 'Canceled']);

const count = z.number().int();

/** A piece of work that goes on in the background, or has ended. */
export const workflowSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    workflow_id: z.string(),
    workflow_type: workflowTypeSchema,
    workflow_status: workflowStatusSchema,
    task_queue: z.string(),
    entity: z.string(),
    entity_id: z.string(),
    start_time: instantSchema,
    close_time: instantSchema.optional(),
    progress: z
      .object({
        processed: count.meta({ description: 'Rows or records that were looked at' }),
        failed: count.meta({ description: 'Those of them that could not be carried out' }),
      })
      .meta({ id: 'WorkflowProgress' }),
  })
  .meta({ id: 'Workflow' });
export type Workflow = z.output<typeof workflowSchema>;

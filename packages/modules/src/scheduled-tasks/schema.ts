import { flagParameter, listShape } from '@counterfoil/engine/define';
import {
  instantSchema,
  recordStampsShape,
  recordStatusSchema,
  referenceSchema,
  requiredTextSchema,
  timeZoneSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { jobConfigSchema, keptJobConfigSchema } from './job-config.ts';
import { exportIntervalSchema, exportTypeSchema, givenIntervals } from './values.ts';

const zone = timeZoneSchema.nullish().meta({
  description: 'Zone whose clock the windows follow; default: that of the environment',
});

/** Body of POST /tasks/scheduled (E 4.18; D79). */
export const createScheduledTaskSchema = z
  .object({
    connection_id: referenceSchema('conn'),
    entity_type: exportTypeSchema,
    interval: z.enum(givenIntervals),
    job_config: jobConfigSchema,
    timezone: zone,
    enabled: z.boolean().default(true),
  })
  .meta({ id: 'CreateScheduledTask' });
export type CreateScheduledTask = z.output<typeof createScheduledTaskSchema>;

/** Body of PUT /tasks/scheduled/{id} (specification, "Update a scheduled task"). */
export const updateScheduledTaskSchema = z
  .object({ enabled: z.boolean().meta({ description: 'True resumes, false pauses' }) })
  .meta({ id: 'UpdateScheduledTask' });

/** Body of POST /tasks/scheduled/{id}/run. */
export const runScheduledTaskSchema = withConditions(
  z.object({
    start_time: instantSchema.optional(),
    end_time: instantSchema.optional(),
    idempotency_key: requiredTextSchema(255).optional(),
  }),
  [
    { needs: 'end_time', beside: 'start_time', says: 'is required beside start_time' },
    { needs: 'start_time', beside: 'end_time', says: 'is required beside end_time' },
  ],
).meta({ id: 'RunScheduledTask' });

const { created_by: _, updated_by: __, ...stamps } = recordStampsShape;

/** The scheduled task on the wire (specification, "ScheduledTask"; the rest: D79). */
export const scheduledTaskSchema = z
  .object({
    ...stamps,
    status: recordStatusSchema,
    connection_id: z.string(),
    entity_type: exportTypeSchema,
    interval: exportIntervalSchema,
    timezone: z.string(),
    enabled: z.boolean(),
    job_config: keptJobConfigSchema,
    next_run_at: instantSchema
      .nullable()
      .meta({ description: 'When the next window is due; null while it is paused' }),
    exported_until: instantSchema.meta({
      description: 'End of the last window that was closed; its run may still be under way',
    }),
  })
  .meta({ id: 'ScheduledTask' });
export type ScheduledTaskResource = z.output<typeof scheduledTaskSchema>;

/** Answer of POST /tasks/scheduled/{id}/run. */
export const triggeredRunSchema = z
  .object({
    message: z.string(),
    task_id: z.string(),
    workflow_id: z.string().meta({ description: 'The same as task_id' }),
    start_time: instantSchema,
    end_time: instantSchema,
  })
  .meta({ id: 'TriggeredRun' });

/** Query of GET /tasks/scheduled. */
export const scheduledTasksQuerySchema = z.object({
  ...listShape,
  connection_id: z.string().max(64).optional(),
  entity_type: exportTypeSchema.optional().meta({ description: 'Exports of this kind of rows' }),
  interval: exportIntervalSchema.optional().meta({ description: 'With windows of this length' }),
  enabled: flagParameter.optional(),
});

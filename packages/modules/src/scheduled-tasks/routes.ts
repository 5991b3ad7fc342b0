import {
  newRecord,
  ofTable,
  pageRequest,
  pageSchema,
  type RequestContext,
  type Routes,
  route,
  searchFilters,
  where,
  withETag,
} from '@counterfoil/engine/define';
import { existing, invalidField, referenceSchema } from '@counterfoil/kernel';
import type { TargetPolicy } from '@counterfoil/webhooks';
import { z } from 'zod';
import { connectionRecords } from '../connections/index.ts';
import { foundById } from '../record/index.ts';
import { defaultTimeZone } from '../tenancy/index.ts';
import {
  archiveScheduledTask,
  createScheduledTask,
  enableScheduledTask,
  requestRun,
} from './decisions.ts';
import { wholeJobConfig } from './job-config.ts';
import { assertPlace } from './place.ts';
import { scheduledTaskTable, scheduledTaskView } from './projection.ts';
import { runsPlanned } from './runs/reactions.ts';
import { scheduledTask } from './scheduled-task.ts';
import {
  type CreateScheduledTask,
  createScheduledTaskSchema,
  runScheduledTaskSchema,
  scheduledTaskSchema,
  scheduledTasksQuerySchema,
  triggeredRunSchema,
  updateScheduledTaskSchema,
} from './schema.ts';
import type { ExportType } from './values.ts';

const tag = 'Scheduled tasks';
const idParameters = z.object({ id: referenceSchema('schtask') });

/** Everything that the routes of scheduled tasks need from outside. */
export interface ScheduledTaskOptions {
  /** The addresses to which an `endpoint_url` may lead (D83). */
  readonly policy: TargetPolicy;
  /** The columns that exports of a kind have by themselves. */
  readonly columnsOf: (type: ExportType) => readonly string[];
}

const metadataTypes: readonly CreateScheduledTask['entity_type'][] = [
  'credit_usage',
  'usage_analytics',
];

/** Throws 400 naming the field where the parts of a request do not fit each other (E 23.1). */
async function assertFits(
  context: RequestContext,
  { connection_id, entity_type, job_config }: CreateScheduledTask,
  { policy, columnsOf }: ScheduledTaskOptions,
): Promise<void> {
  const { provider_type } = await connectionRecords.referred(
    context,
    connection_id,
    'connection_id',
  );
  assertPlace(provider_type, job_config, policy);
  const { export_metadata_fields: fields } = job_config;
  if (fields.length > 0 && !metadataTypes.includes(entity_type)) {
    const only = `only exports of ${metadataTypes.join(' and ')} have columns of metadata`;
    throw invalidField('/job_config/export_metadata_fields', `must be left out: ${only}`);
  }
  const taken = new Set(columnsOf(entity_type));
  for (const [place, field] of fields.entries()) {
    const pointer = `/job_config/export_metadata_fields/${place}`;
    if (field.entity_type === 'wallet' && entity_type === 'usage_analytics') {
      throw invalidField(
        `${pointer}/entity_type`,
        'must be customer for an export of usage_analytics',
      );
    }
    if (taken.has(field.column_name)) {
      const says = `must be another name: the export has a column ${field.column_name}`;
      throw invalidField(`${pointer}/column_name`, says);
    }
    taken.add(field.column_name);
  }
}

const routesOfTasks = {
  'GET /tasks/scheduled': route({
    summary: 'List scheduled tasks',
    tag,
    status: 200,
    permission: 'task:read',
    query: ofTable(scheduledTaskTable, scheduledTasksQuerySchema),
    response: pageSchema(scheduledTaskSchema),
    example: { names: { connection_id: 'conn' } },
    handle: (context, { query }) =>
      context.read.list(scheduledTaskTable, pageRequest(scheduledTaskTable, query), [
        ...searchFilters(scheduledTaskTable, query),
        ...where('connection_id', 'eq', query.connection_id),
        ...where('entity_type', 'eq', query.entity_type),
        ...where('interval', 'eq', query.interval),
        ...where('enabled', 'eq', query.enabled),
      ]),
  }),

  'GET /tasks/scheduled/{id}': route({
    summary: 'Get a scheduled task',
    tag,
    status: 200,
    permission: 'task:read',
    params: idParameters,
    response: scheduledTaskSchema,
    handle: async (context, { params: { id } }) => {
      const { resource, revision } = await foundById(
        context,
        scheduledTaskTable,
        'scheduled task',
        id,
      );
      return withETag(resource, revision);
    },
  }),

  'PUT /tasks/scheduled/{id}': route({
    summary: 'Update a scheduled task',
    description:
      'True resumes, false pauses. The windows of a pause are exported with the first one that is due afterwards.',
    tag,
    status: 200,
    permission: 'task:write',
    params: idParameters,
    body: updateScheduledTaskSchema,
    response: scheduledTaskSchema,
    example: { body: { enabled: false } },
    handle: async (context, { params: { id }, body: { enabled } }) => {
      const decision = enableScheduledTask(id, enabled);
      const { state, revision } = await context.execute(scheduledTask, id, decision);
      return withETag(scheduledTaskView(state), revision);
    },
  }),

  'DELETE /tasks/scheduled/{id}': route({
    summary: 'Delete a scheduled task',
    description: 'It stays readable, and is no longer changed. What was not exported yet is not.',
    tag,
    status: 204,
    permission: 'task:write',
    params: idParameters,
    handle: async (context, { params: { id } }) => {
      await context.execute(scheduledTask, id, archiveScheduledTask(id));
      return undefined;
    },
  }),

  'POST /tasks/scheduled/{id}/run': route({
    summary: 'Run a scheduled task now',
    description:
      'For a range, or for the interval that runs, up to now. The windows of the schedule stay as they are.',
    tag,
    status: 200,
    permission: 'task:write',
    params: idParameters,
    body: runScheduledTaskSchema,
    bodyOptional: true,
    response: triggeredRunSchema,
    example: {
      body: { start_time: '2026-01-01T00:00:00.000Z', end_time: '2026-01-02T00:00:00.000Z' },
    },
    handle: async (context, { params: { id }, body }) => {
      const runId = context.newId('task');
      const { start_time: start, end_time: end } = body;
      if (start !== undefined && end !== undefined && start >= end) {
        throw invalidField('/end_time', 'must be after start_time');
      }
      const range = start === undefined || end === undefined ? null : { start, end };
      const outcome = await context.execute(scheduledTask, id, requestRun(id, runId, range));
      await context.carryOut(runsPlanned, id, outcome);
      const [event] = outcome.events;
      const { data } = existing(event?.type === 'ExportRunRequested' ? event : null, 'run');
      return {
        message: 'The export will be carried out shortly.',
        ...{ task_id: data.run_id, workflow_id: data.run_id },
        ...{ start_time: data.start, end_time: data.end },
      };
    },
  }),
} satisfies Routes;

export const scheduledTaskRoutes = (options: ScheduledTaskOptions) =>
  ({
    ...routesOfTasks,

    'POST /tasks/scheduled': route({
      summary: 'Export something again and again',
      description:
        'Window by window, each row once. The windows follow the clock of a zone and of the environment.',
      tag,
      status: 201,
      permission: 'task:write',
      body: createScheduledTaskSchema,
      response: scheduledTaskSchema,
      example: {
        body: {
          connection_id: newRecord('conn'),
          entity_type: 'invoice',
          interval: 'daily',
          timezone: 'Europe/Berlin',
          job_config: { bucket: 'warehouse', region: 'eu-central-1', format: 'ndjson' },
        },
        makes: 'schtask',
      },
      handle: async (context, { body }) => {
        const id = context.newId('schtask');
        const { state, revision } = await context.execute(scheduledTask, id, {
          prepare: async () => {
            await assertFits(context, body, options);
            const { connection_id, entity_type, interval, enabled } = body;
            return createScheduledTask({
              ...{ id, connection_id, entity_type, interval, enabled },
              timezone: body.timezone ?? (await defaultTimeZone(context)),
              job_config: wholeJobConfig(body.job_config),
            });
          },
        });
        return withETag(scheduledTaskView(state), revision);
      },
    }),
  }) satisfies Routes;

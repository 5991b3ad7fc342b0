import {
  ContentStream,
  contentRoute,
  type FileStore,
  flagParameter,
  pageShape,
  type RequestContext,
  type Routes,
  refuseBeyond,
  route,
  where,
} from '@counterfoil/engine/define';
import { invalidField, invalidOperation, Problem, referenceSchema } from '@counterfoil/kernel';
import { checkTargetUrl, type TargetPolicy } from '@counterfoil/webhooks';
import { z } from 'zod';
import { messageSchema } from '../../message.ts';
import { equalTo, recordRoutes } from '../../record/index.ts';
import { importLimits } from '../limits.ts';
import { createTask, requireTask, setTaskStatus } from './decisions.ts';
import { badRowsOf } from './files.ts';
import { taskTable } from './projection.ts';
import {
  type CreateTask,
  createTaskSchema,
  taskFileSchema,
  taskSchema,
  taskStatusBodySchema,
} from './schema.ts';
import { importTask } from './task.ts';
import { removeFiles, takePart } from './upload.ts';
import { type ImportedEntity, taskStatusSchema, taskTypeSchema } from './values.ts';
import { taskView } from './view.ts';

/** Everything that tasks need from outside. */
export interface TaskOptions {
  /** The place of files; null in processes that serve no requests. */
  readonly files: FileStore | null;
  /** Decides from where files may be fetched (D83). */
  readonly policy: TargetPolicy;
}

const tag = 'Tasks';
const params = z.object({ id: referenceSchema('task') });
const kind = {
  called: 'task',
  prefix: 'task',
  schema: taskSchema,
  aggregate: importTask,
  view: taskView,
  table: taskTable,
} as const;
const routes = recordRoutes(kind, { tag, right: 'task' });

/** The right that an import needs beside that to make tasks: its rows are requests of its caller (ADR 52). */
const rights: Readonly<Record<ImportedEntity, string>> = {
  CUSTOMERS: 'customer:write',
  EVENTS: 'event:write',
  PRICES: 'price:write',
};

function refuseWithoutRight({ principal }: RequestContext, entity: ImportedEntity): void {
  const permission = rights[entity];
  if (principal.allows(permission)) return;
  throw new Problem(
    'permission_denied',
    `The roles of this API key do not give ${permission}, which the rows need. Use a key whose roles do.`,
    { details: { permission, roles: principal.roles } },
  );
}

function checkedUrl(url: string, policy: TargetPolicy): string {
  const checked = checkTargetUrl(url, policy);
  if ('refusal' in checked) throw invalidField('/file_url', checked.refusal);
  return checked.url;
}

const openImports = {
  most: importLimits.open,
  noun: 'imports in this environment that have not ended',
  remedy: 'Wait until one has, or stop one.',
} as const;

async function refuseBeyondOpen({ read }: RequestContext): Promise<void> {
  const { pagination } = await read.list(taskTable, { limit: 1, offset: 0 }, [
    ...where('task_type', 'eq', 'IMPORT'),
    ...where('task_status', 'in', ['PENDING', 'PROCESSING']),
  ]);
  refuseBeyond(openImports, pagination.total);
}

async function createImport(context: RequestContext, policy: TargetPolicy, body: CreateTask) {
  refuseWithoutRight(context, body.entity_type);
  if (body.on_existing === 'update' && body.entity_type === 'EVENTS') {
    throw invalidField('/on_existing', 'must be "refuse": a usage event never changes');
  }
  const id = context.newId('task');
  const { file_url, file_name, task_type: _, ...given } = body;
  const { state } = await context.execute(importTask, id, {
    prepare: async () => {
      const url = file_url ? checkedUrl(file_url, policy) : null;
      await refuseBeyondOpen(context);
      return createTask({ id, ...given, file_url: url, file_name: file_name ?? null });
    },
  });
  return taskView(state);
}

const noStore = (): never => {
  throw new Problem('service_unavailable', 'This process keeps no files.');
};

const badRowsType = 'application/x-ndjson';

/** The bad rows of an import, as NDJSON. Throws 400 for rows that are no longer kept. */
async function badRows(context: RequestContext, files: FileStore, id: string) {
  const { bad_bytes } = requireTask(await context.load(importTask, id), id);
  const file = badRowsOf(context.principal.environmentId, id);
  if (bad_bytes > 0 && (await files.stateOf(file)) === null) {
    throw invalidOperation(`The bad rows of ${id} are no longer kept.`, {
      reason: 'no_longer_kept',
    });
  }
  return new ContentStream(badRowsType, files.read(file), `${id}-bad-rows.ndjson`);
}

/** The routes of the files of tasks. */
const fileRoutes = ({ files }: Pick<TaskOptions, 'files'>) =>
  ({
    'PUT /tasks/{id}/file': route({
      operationId: 'sendTaskFile',
      summary: 'Send the file of an import, whole or in parts',
      description:
        'The bytes as they are, up to 512 MiB. A request may take a minute: what takes longer is sent in parts, each with ' +
        '`offset`, the bytes before it, and all but the last with `complete=false`. Without a body it tells how many bytes are there.',
      tag,
      status: 200,
      permission: 'task:write',
      params,
      query: z.object({
        offset: pageShape.offset.meta({ description: 'Bytes of the file before this part' }),
        complete: flagParameter
          .default(true)
          .meta({ description: 'Whether this is the last part' }),
      }),
      streams: ['text/csv', 'application/x-ndjson', 'application/octet-stream'],
      bodyLimitBytes: importLimits.fileBytes,
      response: taskFileSchema,
      example: { query: { complete: 'false' } },
      handle: async (context, { params: { id }, query, stream }) => {
        // The rows are carried out with the rights of whoever asked for the import, so nobody else's may come with less.
        const { entity_type } = requireTask(await context.load(importTask, id), id);
        refuseWithoutRight(context, entity_type);
        return takePart(context, files ?? noStore(), id, { stream, ...query });
      },
    }),

    'DELETE /tasks/{id}/file': route({
      operationId: 'removeTaskFile',
      summary: 'Remove the file of an import that nobody works on',
      description:
        'Of an import that has failed or waits for its file: it goes on once the same file is sent again. Of one that is completed the rows that ' +
        'were refused are removed.',
      tag,
      status: 204,
      permission: 'task:write',
      params,
      handle: async (context, { params: { id } }) => {
        await removeFiles(context, files ?? noStore(), id);
        return undefined;
      },
    }),

    'GET /tasks/{id}/download': contentRoute({
      operationId: 'downloadTaskRows',
      summary: 'Download the rows of an import that were refused',
      description:
        'One JSON object on each line: `line` in the file, counted from 1, `error` and `row`.',
      tag,
      status: 200,
      permission: 'task:read',
      params,
      contents: [badRowsType],
      handle: (context, { params: { id } }) => badRows(context, files ?? noStore(), id),
    }),
  }) satisfies Routes;

/** The routes of tasks. */
export const taskRoutes = ({ files, policy }: TaskOptions) =>
  ({
    ...fileRoutes({ files }),

    'POST /tasks': route({
      summary: 'Start an import of customers, usage events or prices',
      description:
        'It begins once its file is there: fetched from `file_url`, or sent to `/tasks/{id}/file`. Each row is carried out ' +
        'like a request of the caller, once, whatever happens on the way; rows that are refused are listed.',
      tag,
      status: 202,
      permission: 'task:write',
      body: createTaskSchema,
      response: taskSchema,
      example: {
        body: {
          task_type: 'IMPORT',
          entity_type: 'CUSTOMERS',
          file_type: 'CSV',
          file_name: 'customers.csv',
        },
        makes: 'task',
      },
      handle: (context, { body }) => createImport(context, policy, body),
    }),

    'GET /tasks': routes.list({
      task_type: equalTo('task_type', taskTypeSchema),
      task_status: equalTo('task_status', taskStatusSchema),
      entity_type: equalTo('entity_type', z.string().max(64)),
      scheduled_task_id: equalTo('scheduled_task_id', z.string().max(64), { names: 'schtask' }),
      created_by: equalTo('created_by', z.string().max(64), { names: 'owner' }),
    }),
    'GET /tasks/{id}': routes.get(),

    'PUT /tasks/{id}/status': route({
      operationId: 'setTaskStatus',
      summary: 'Stop a task, or have a failed import go on',
      description: 'An import that goes on begins behind the last line that was carried out.',
      tag,
      status: 200,
      permission: 'task:write',
      params,
      body: taskStatusBodySchema,
      response: messageSchema,
      example: { body: { task_status: 'FAILED' } },
      handle: async (context, { params: { id }, body: { task_status: wanted } }) => {
        const { state } = await context.execute(importTask, id, setTaskStatus(id, wanted));
        return { message: `The task ${id} is ${requireTask(state, id).task_status}.` };
      },
    }),
  }) satisfies Routes;

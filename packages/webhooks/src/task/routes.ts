import {
  newRecord,
  ofTable,
  type Page,
  pageRequest,
  pageSchema,
  type RequestContext,
  route,
  searchFilters,
  where,
  withETag,
} from '@counterfoil/engine/define';
import { invalidField, invalidOperation } from '@counterfoil/kernel';
import { taskProgress } from '../delivery/queries.ts';
import { requireMessage } from '../delivery/routes.ts';
import { resendPathSchema } from '../delivery/schema.ts';
import { loadEndpoint } from '../endpoint/decisions.ts';
import { testType } from '../endpoint/event-types.ts';
import { endpointPathSchema } from '../endpoint/schema.ts';
import { taskTable } from '../projection.ts';
import {
  noProgress,
  type RequestedTask,
  recoverBodySchema,
  requestedTask,
  type TaskResource,
  taskListSchema,
  taskPathSchema,
  taskResource,
  taskSchema,
  testBodySchema,
} from './schema.ts';
import { cancelTask, requestTask, requireTask, type TaskWork, webhookTask } from './task.ts';

const tag = 'Webhook deliveries';

/**
 * Asks the worker for something. The request is an event, so the log tells who has sent what again,
 * and a repetition with the same idempotency key asks once.
 */
async function ask(
  context: RequestContext,
  endpointId: string,
  work: () => TaskWork | Promise<TaskWork>,
) {
  const id = context.newId('wtask');
  const { state, revision } = await context.execute(webhookTask, id, {
    prepare: async () => {
      const endpoint = await loadEndpoint(context, endpointId);
      if (!endpoint.enabled) {
        throw invalidOperation('The webhook endpoint is disabled. Enable it first.', {
          reason: 'disabled',
        });
      }
      return requestTask(id, endpointId, await work());
    },
  });
  return withETag(taskResource(requestedTask(requireTask(state, id)), noProgress), revision);
}

async function withProgress(
  context: RequestContext,
  { items, pagination }: Page<RequestedTask>,
): Promise<Page<TaskResource>> {
  const progressOf = await taskProgress(
    context,
    items.map(({ id }) => id),
  );
  return { items: items.map((task) => taskResource(task, progressOf(task.id))), pagination };
}

const askingRoutes = (offered: ReadonlySet<string>) => ({
  'POST /webhooks/endpoints/{id}/test': route({
    summary: 'Send a test event to an endpoint',
    description:
      'A sample of a type, or `webhook.test`, marked by the member `test`. It is tried once, whatever the breaker says.',
    tag,
    status: 202,
    permission: 'webhook:write',
    params: endpointPathSchema,
    body: testBodySchema(offered),
    bodyOptional: true,
    example: { body: { event_type: testType } },
    response: taskSchema,
    handle: (context, { params: { id }, body: { event_type } }) =>
      ask(context, id, () => ({ kind: 'test', event_type })),
  }),
  'POST /webhooks/messages/{id}/endpoints/{endpoint_id}/resend': route({
    operationId: 'resendWebhookMessage',
    summary: 'Send a message to an endpoint again',
    description: 'Also when it was delivered. It is tried once.',
    tag,
    status: 202,
    permission: 'webhook:write',
    params: resendPathSchema,
    response: taskSchema,
    example: { params: { id: newRecord('msg') } },
    handle: (context, { params: { id, endpoint_id } }) =>
      ask(context, endpoint_id, async () => {
        await requireMessage(context, id);
        return { kind: 'resend', message_id: id };
      }),
  }),
  'POST /webhooks/endpoints/{id}/recover': route({
    summary: 'Deliver again what an endpoint has missed in a period',
    description:
      'In the order of the log and at the rate of the endpoint. The task can be cancelled.',
    tag,
    status: 202,
    permission: 'webhook:write',
    params: endpointPathSchema,
    body: recoverBodySchema,
    response: taskSchema,
    example: { body: { since: '2026-01-01T00:00:00Z' }, makes: 'wtask' },
    handle: (context, { params: { id }, body: { since, until = context.now, states } }) => {
      if (until < since) throw invalidField('/until', 'must not be before since');
      return ask(context, id, () => ({ kind: 'recover', since, until, states }));
    },
  }),
});

const followingRoutes = {
  'GET /webhooks/tasks': route({
    summary: 'List tests, resendings and recoveries',
    tag,
    status: 200,
    permission: 'webhook:read',
    query: ofTable(taskTable, taskListSchema),
    response: pageSchema(taskSchema),
    example: { names: { endpoint_id: 'webhook' } },
    handle: async (context, { query }) =>
      withProgress(
        context,
        await context.read.list(taskTable, pageRequest(taskTable, query), [
          ...searchFilters(taskTable, query),
          ...where('endpoint_id', 'eq', query.endpoint_id),
        ]),
      ),
  }),
  'GET /webhooks/tasks/{id}': route({
    summary: 'Get a test, resending or recovery with its progress',
    tag,
    status: 200,
    permission: 'webhook:read',
    params: taskPathSchema,
    response: taskSchema,
    handle: async (context, { params: { id } }) => {
      const task = requireTask(await context.load(webhookTask, id), id);
      const progressOf = await taskProgress(context, [id]);
      return taskResource(requestedTask(task), progressOf(id));
    },
  }),
  'POST /webhooks/tasks/{id}/cancel': route({
    summary: 'Cancel a recovery',
    description: 'What it has put into the queue stays there.',
    tag,
    status: 200,
    permission: 'webhook:write',
    params: taskPathSchema,
    response: taskSchema,
    handle: async (context, { params: { id } }) => {
      const { state, revision } = await context.execute(webhookTask, id, cancelTask(id));
      const progressOf = await taskProgress(context, [id]);
      return withETag(
        taskResource(requestedTask(requireTask(state, id)), progressOf(id)),
        revision,
      );
    },
  }),
};

/** The routes that give tasks to the delivery worker and show their progress. */
export const taskRoutes = (offered: ReadonlySet<string>) => ({
  ...askingRoutes(offered),
  ...followingRoutes,
});

import {
  flagParameter,
  newRecord,
  ofTable,
  pageRequest,
  pageSchema,
  pageShape,
  type RequestContext,
  type Routes,
  route,
  where,
  withETag,
} from '@counterfoil/engine/define';
import { invalidOperation, notFound, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { foundById } from '../../record/index.ts';
import { revertPlanChange } from '../change/decisions.ts';
import { existingSubscription, revertCancellation } from '../decisions.ts';
import { scheduleRecordSchema, scheduleSchema, schedulesSchema } from '../schema.ts';
import { subscription } from '../subscription.ts';
import { scheduleTable } from './projection.ts';
import { schedulesOf } from './view.ts';

const tag = 'Subscriptions';

const scheduleFilters = {
  subscription_id: z.string().max(64).optional(),
  pending_only: flagParameter
    .optional()
    .meta({ description: 'Whether only those that are to come are found' }),
} as const;

/** Members that clients send, and that the id says already. */
const cancelScheduleSchema = z
  .object({
    schedule_id: z.string().max(64).nullish(),
    schedule_type: z.string().max(64).nullish(),
    subscription_id: z.string().max(64).nullish(),
  })
  .meta({ id: 'CancelSchedule' });

/** The change that is meant; the other members only have to agree with it. */
const cancelNamedScheduleSchema = z
  .object({
    schedule_id: referenceSchema('sched'),
    schedule_type: z.string().max(64).nullish(),
    subscription_id: referenceSchema('subs').nullish(),
  })
  .meta({ id: 'CancelNamedSchedule' });

export const scheduleRoutes = {
  'GET /subscriptions/schedules': route({
    operationId: 'listSubscriptionSchedules',
    summary: 'List changes that were scheduled for subscriptions',
    description: 'Also those that are past.',
    tag,
    status: 200,
    permission: 'subscription:read',
    query: ofTable(scheduleTable, z.object({ ...pageShape, ...scheduleFilters })),
    response: pageSchema(scheduleRecordSchema),
    example: { names: { subscription_id: 'subs' } },
    handle: (context, { query }) =>
      context.read.list(scheduleTable, pageRequest(scheduleTable, query), [
        ...where('subscription_id', 'eq', query.subscription_id),
        ...where('schedule_status', 'eq', query.pending_only ? 'pending' : undefined),
      ]),
  }),

  'GET /subscriptions/schedules/{id}': route({
    operationId: 'getSubscriptionSchedule',
    summary: 'Get a change that was scheduled for a subscription',
    tag,
    status: 200,
    permission: 'subscription:read',
    params: z.object({ id: referenceSchema('sched') }),
    response: scheduleRecordSchema,
    example: { params: { id: newRecord('sched') } },
    handle: async (context, { params: { id } }) =>
      (await foundById(context, scheduleTable, 'schedule', id)).resource,
  }),

  'GET /subscriptions/{id}/schedules': route({
    summary: 'List what is to come for a subscription',
    tag,
    status: 200,
    permission: 'subscription:read',
    params: z.object({ id: referenceSchema('subs') }),
    response: schedulesSchema,
    handle: async (context, { params: { id } }) => {
      const state = existingSubscription(await context.recalled.load(subscription, id), id);
      const schedules = schedulesOf(state);
      return { schedules, count: schedules.length };
    },
  }),

  'POST /subscriptions/schedules/{id}/cancel': route({
    summary: 'Take back what is to come for a subscription',
    description: 'A cancellation or a change of plan that has not come yet.',
    tag,
    status: 200,
    permission: 'subscription:write',
    params: z.object({ id: referenceSchema('sched') }),
    body: cancelScheduleSchema,
    bodyOptional: true,
    response: scheduleSchema,
    example: {
      params: { id: newRecord('sched') },
      body: {},
      texts: ['schedule_id', 'subscription_id'],
    },
    handle: (context, { params: { id } }) => takeBack(context, id, { field: 'id' }),
  }),

  'POST /subscriptions/schedules/cancel': route({
    operationId: 'cancelNamedSubscriptionSchedule',
    summary: 'Take back what is to come for a subscription, named in the body',
    description: 'As `POST /subscriptions/schedules/{id}/cancel`.',
    tag,
    status: 200,
    permission: 'subscription:write',
    body: cancelNamedScheduleSchema,
    response: scheduleSchema,
    example: { body: { schedule_id: newRecord('sched') }, texts: ['subscription_id'] },
    handle: (context, { body: { schedule_id, subscription_id } }) =>
      takeBack(context, schedule_id, {
        field: 'schedule_id',
        ofSubscription: subscription_id ?? null,
      }),
  }),
} satisfies Routes;

/**
 * Takes back a cancellation or a change of plan that has not come yet. 404 for one that there never was, or that is of another
 * subscription than the one that is named; 400 for one that has come or was taken back.
 */
async function takeBack(
  context: RequestContext,
  scheduleId: string,
  { field, ofSubscription }: { readonly field: string; readonly ofSubscription?: string | null },
) {
  const { resource } = await foundById(context, scheduleTable, 'schedule', scheduleId, field);
  const { subscription_id: id } = resource;
  if ((ofSubscription ?? id) !== id) throw notFound('schedule', scheduleId, field);
  const before = existingSubscription(await context.load(subscription, id), id);
  const schedule = schedulesOf(before).find((each) => each.id === scheduleId);
  if (!schedule) {
    throw invalidOperation(`The change ${scheduleId} is not to come any more.`, {
      reason: 'ended',
    });
  }
  const decision =
    schedule.schedule_type === 'plan_change'
      ? revertPlanChange(id, scheduleId)
      : revertCancellation(id);
  const { revision } = await context.execute(subscription, id, decision);
  return withETag({ ...schedule, schedule_status: 'cancelled' as const }, revision);
}

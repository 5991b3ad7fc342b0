import {
  type EventBroker,
  type EventGateway,
  listed,
  listShape,
  newText,
  ofTable,
  pageSchema,
  type Quota,
  type ReaderStart,
  type RequestContext,
  type Routes,
  refuseBeyondListed,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { existing, notFound, Problem, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { accessOfSubscriptions, readersOfSubscriptions } from './reactions.ts';
import {
  createSubscription,
  deleteSubscription,
  eventSubscription,
  replaySubscription,
  type Subscription,
} from './subscription.ts';
import { subscriptionTable } from './subscription-projection.ts';
import {
  type CreateSubscription,
  createSubscriptionSchema,
  replaySubscriptionSchema,
  type StartRequest,
  subscriptionSchema,
  subscriptionStatusSchema,
  subscriptionView,
} from './subscription-schema.ts';

/** The parts from outside that subscriptions need. */
interface SubscriptionOptions {
  readonly broker: EventBroker;
  /** Null where systems get no credentials. */
  readonly gateway: EventGateway | null;
  /** Of an environment: each costs the broker a consumer. */
  readonly maximumSubscriptions: number;
}

const tag = 'Event subscriptions';
const idParameters = z.object({ id: referenceSchema('esub') });

const quotaOf = (most: number): Quota => ({
  most,
  noun: 'event subscriptions in this environment',
  remedy: 'Delete one first.',
});

/**
 * Returns the position to begin after. `now` becomes the position that was the last one when it was
 * asked for. Throws 400 when events after a position are no longer kept, for to begin later would pass
 * them over in silence, and when there is no such position yet.
 */
async function startOf(
  { principal }: RequestContext,
  broker: EventBroker,
  request: StartRequest,
): Promise<ReaderStart> {
  if (request.after_position !== undefined) {
    await broker.read(principal, { after: request.after_position, limit: 1 });
    return { kind: 'position', after: request.after_position };
  }
  if (request.start_time !== undefined) return { kind: 'time', at: request.start_time };
  if (request.from === 'oldest') return { kind: 'oldest' };
  return { kind: 'position', after: await broker.lastPosition() };
}

/** Returns what the broker knows of the reader, where it can be asked. */
async function deliveryOf(broker: EventBroker, id: string) {
  try {
    const status = await broker.readerStatus(id);
    return status ? { delivery: status } : {};
  } catch (error) {
    if (error instanceof Problem && error.code === 'service_unavailable') return {};
    throw error;
  }
}

async function subscribed(context: RequestContext, id: string): Promise<Subscription> {
  const subscription = await context.load(eventSubscription, id);
  if (!subscription || subscription.status === 'deleted') {
    throw notFound('event subscription', id);
  }
  return subscription;
}

async function subscribe(
  context: RequestContext,
  { broker, maximumSubscriptions }: Omit<SubscriptionOptions, 'gateway'>,
  body: CreateSubscription,
) {
  const id = context.newId('esub');
  const outcome = await context.execute(eventSubscription, id, {
    prepare: async () => {
      await refuseBeyondListed(context, subscriptionTable, quotaOf(maximumSubscriptions));
      return createSubscription({
        id,
        name: body.name,
        resource: body.resource ?? null,
        start: await startOf(context, broker, body),
        unconfirmed_maximum: body.max_unconfirmed,
      });
    },
  });
  await context.carryOut(readersOfSubscriptions(broker), id, outcome);
  return outcome;
}

/** The routes of subscriptions. */
export const subscriptionRoutes = ({
  broker,
  gateway,
  maximumSubscriptions,
}: SubscriptionOptions) =>
  ({
    'POST /feed/subscriptions': route({
      summary: 'Subscribe a downstream system to public events on NATS',
      description:
        'Makes a durable consumer whose place NATS keeps. Without a start it begins with the next event.',
      tag,
      status: 201,
      permission: 'event_subscription:write',
      body: createSubscriptionSchema,
      response: subscriptionSchema,
      example: { body: { name: newText('warehouse') }, makes: 'esub' },
      handle: async (context, { body }) => {
        const { state, revision } = await subscribe(
          context,
          { broker, maximumSubscriptions },
          body,
        );
        return withETag(subscriptionView(existing(state, 'event subscription')), revision);
      },
    }),

    'GET /feed/subscriptions': route({
      summary: 'List event subscriptions',
      tag,
      status: 200,
      permission: 'event_subscription:read',
      query: ofTable(subscriptionTable, z.object(listShape)),
      response: pageSchema(subscriptionSchema),
      handle: (context, { query }) => listed(context, subscriptionTable, query),
    }),

    'GET /feed/subscriptions/{id}': route({
      summary: 'Get an event subscription with what waits for it',
      tag,
      status: 200,
      permission: 'event_subscription:read',
      params: idParameters,
      response: subscriptionStatusSchema,
      handle: async (context, { params: { id } }) => {
        const subscription = await subscribed(context, id);
        return { ...subscriptionView(subscription), ...(await deliveryOf(broker, id)) };
      },
    }),

    'POST /feed/subscriptions/{id}/replay': route({
      summary: 'Restart an event subscription',
      description: 'What it was given and has not acknowledged is forgotten.',
      tag,
      status: 200,
      permission: 'event_subscription:write',
      params: idParameters,
      body: replaySubscriptionSchema,
      bodyOptional: true,
      example: { body: { from: 'oldest' } },
      response: subscriptionSchema,
      handle: async (context, { params: { id }, body }) => {
        const outcome = await context.execute(eventSubscription, id, {
          prepare: async () => replaySubscription(id, await startOf(context, broker, body)),
        });
        await context.carryOut(readersOfSubscriptions(broker), id, outcome);
        const subscription = existing(outcome.state, 'event subscription');
        return withETag(subscriptionView(subscription), outcome.revision);
      },
    }),

    'DELETE /feed/subscriptions/{id}': route({
      summary: 'Delete an event subscription',
      description: 'With its consumer and its credentials.',
      tag,
      status: 204,
      permission: 'event_subscription:write',
      params: idParameters,
      handle: async (context, { params: { id } }) => {
        const outcome = await context.execute(eventSubscription, id, deleteSubscription(id));
        await context.carryOut(readersOfSubscriptions(broker), id, outcome);
        if (gateway) await context.carryOut(accessOfSubscriptions(gateway), id, outcome);
        return undefined;
      },
    }),
  }) satisfies Routes;

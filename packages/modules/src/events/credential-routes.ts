import {
  type EventGateway,
  newRecord,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { existing, Problem, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { accessOfSubscriptions } from './reactions.ts';
import { eventSubscription, issueCredentials, revokeCredentials } from './subscription.ts';
import {
  credentialsView,
  issueCredentialsSchema,
  issuedCredentialsSchema,
} from './subscription-schema.ts';

const tag = 'Event subscriptions';
const idParameters = z.object({ id: referenceSchema('esub') });

const noGateway = (): Problem =>
  new Problem(
    'service_unavailable',
    'This installation gives no credentials: EVENT_GATEWAY_URL is not set. Read GET /v1/feed instead.',
    { retryAfterSeconds: 60 },
  );

/** The routes of credentials. Without a gateway none are issued. */
export const credentialRoutes = (gateway: EventGateway | null) =>
  ({
    'POST /feed/subscriptions/{id}/credentials': route({
      operationId: 'issueFeedSubscriptionCredentials',
      summary: 'Issue credentials for an event subscription',
      description:
        'With them a system reads its own consumer on NATS alone. They replace those issued before, whose connections are closed.',
      tag,
      status: 201,
      permission: 'event_subscription:write',
      params: idParameters,
      body: issueCredentialsSchema,
      bodyOptional: true,
      response: issuedCredentialsSchema,
      example: { body: { expires_at: '2035-01-01T00:00:00Z' }, makes: 'credentials' },
      handle: async (context, { params: { id }, body }) => {
        if (!gateway) throw noGateway();
        const outcome = await context.execute(
          eventSubscription,
          id,
          issueCredentials(id, body.expires_at ?? null),
        );
        await context.carryOut(accessOfSubscriptions(gateway), id, outcome);
        const subscription = existing(outcome.state, 'event subscription');
        return withETag(credentialsView(subscription, gateway), outcome.revision);
      },
    }),

    'DELETE /feed/subscriptions/{id}/credentials': route({
      operationId: 'revokeFeedSubscriptionCredentials',
      summary: 'Revoke the credentials of an event subscription',
      description: 'Connections with them are closed. The subscription and its place stay.',
      tag,
      status: 204,
      permission: 'event_subscription:write',
      params: idParameters,
      example: { params: { id: newRecord('credentials', 'consumer') } },
      handle: async (context, { params: { id } }) => {
        const outcome = await context.execute(eventSubscription, id, revokeCredentials(id));
        if (gateway) await context.carryOut(accessOfSubscriptions(gateway), id, outcome);
        return undefined;
      },
    }),
  }) satisfies Routes;

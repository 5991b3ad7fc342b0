import {
  type EventGateway,
  newRecord,
  type RequestContext,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { existing, Problem, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import {
  accessOf,
  eventSubscription,
  issueCredentials,
  revokeCredentials,
} from './subscription.ts';
import {
  credentialsView,
  issueCredentialsSchema,
  issuedCredentialsSchema,
} from './subscription-schema.ts';

const tag = 'Event subscriptions';
const idParameters = z.object({ id: referenceSchema('esub') });

/**
 * The number of times that what the gateway was told is compared with the log before the rest is
 * left to the reconciler.
 */
const comparisonsMaximum = 5;

/**
 * Tells the gateway at once what the log says of a subscription's credentials. Changes in the log
 * meanwhile are told after it, so that nothing older stays. When the gateway is away, the projector
 * tells it later.
 */
export async function tellGateway(
  context: RequestContext,
  gateway: EventGateway,
  id: string,
): Promise<void> {
  let told = '';
  for (let comparison = 0; comparison < comparisonsMaximum; comparison += 1) {
    const current = await context.load(eventSubscription, id);
    const access = current && accessOf(current);
    const latest = JSON.stringify([current?.status, access]);
    if (!access || latest === told) return;
    try {
      if (current.status === 'deleted') await gateway.removeAccess(access);
      else await gateway.keepAccess(access);
    } catch (error) {
      if (error instanceof Problem && error.code === 'service_unavailable') return;
      throw error;
    }
    told = latest;
  }
}

const noGateway = (): Problem =>
  new Problem(
    'service_unavailable',
    'This installation gives no credentials: EVENT_GATEWAY_URL is not set. Read GET /v1/events instead.',
    { retryAfterSeconds: 60 },
  );

/** The routes of credentials. Without a gateway none are issued. */
export const credentialRoutes = (gateway: EventGateway | null) =>
  ({
    'POST /events/subscriptions/{id}/credentials': route({
      summary: 'Issue credentials for an event subscription',
      description:
        'With them a system reads its own consumer on NATS and nothing else. They replace those ' +
        'issued before, whose connections are closed. They are shown in this answer only.',
      tag,
      status: 201,
      permission: 'event_subscription:write',
      params: idParameters,
      body: issueCredentialsSchema,
      bodyOptional: true,
      response: issuedCredentialsSchema,
      example: { makes: 'credentials' },
      handle: async (context, { params: { id }, body }) => {
        if (!gateway) throw noGateway();
        const { state, revision } = await context.execute(
          eventSubscription,
          id,
          issueCredentials(id, body.expires_at ?? null),
        );
        await tellGateway(context, gateway, id);
        return withETag(credentialsView(existing(state, 'event subscription'), gateway), revision);
      },
    }),

    'DELETE /events/subscriptions/{id}/credentials': route({
      summary: 'Revoke the credentials of an event subscription',
      description: 'Connections with them are closed. The subscription and its place stay.',
      tag,
      status: 204,
      permission: 'event_subscription:write',
      params: idParameters,
      example: { params: { id: newRecord('credentials', 'consumer') } },
      handle: async (context, { params: { id } }) => {
        await context.execute(eventSubscription, id, revokeCredentials(id));
        if (gateway) await tellGateway(context, gateway, id);
        return undefined;
      },
    }),
  }) satisfies Routes;

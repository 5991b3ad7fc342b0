import {
  type EventGateway,
  listed,
  listShape,
  newText,
  ofTable,
  pageSchema,
  type Quota,
  type Reaction,
  type Routes,
  refuseBeyondListed,
  route,
} from '@counterfoil/engine/define';
import { existing, Problem, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { accessReaction } from '../../gateway-access.ts';
import { isSuperAdmin } from '../../tenancy/index.ts';
import { usageCredentialsTable } from './projection.ts';
import {
  issuedUsageCredentialsSchema,
  issuedView,
  issueUsageCredentialsSchema,
  usageCredentialsSchema,
} from './schema.ts';
import {
  accessOf,
  issueUsageCredentials,
  revokeUsageCredentials,
  usageCredentials,
} from './usage-credentials.ts';

const tag = 'Usage';

/** Each costs the gateway an account. */
const credentialsQuota: Quota = {
  most: 100,
  noun: 'usage credentials in this environment',
  remedy: 'Revoke some.',
};

const noGateway = (): Problem =>
  new Problem(
    'service_unavailable',
    'This installation gives no credentials: EVENT_GATEWAY_URL is not set. Send usage to POST /v1/events.',
    { retryAfterSeconds: 60 },
  );

/** The gateway admits those who have credentials in force. */
export const accessOfUsageCredentials = (gateway: EventGateway): Reaction =>
  accessReaction(gateway, usageCredentials, {
    name: 'usage credentials',
    on: ['UsageCredentialsIssued', 'UsageCredentialsRevoked'],
    table: usageCredentialsTable,
    accessOf: (record) =>
      record && { access: accessOf(record), isKept: record.status === 'published' },
  });

/** The routes of credentials with which usage is sent over NATS. Without a gateway none are issued. */
export const usageCredentialsRoutes = (gateway: EventGateway | null) =>
  ({
    'POST /usage/credentials': route({
      operationId: 'issueUsageCredentials',
      summary: 'Issue credentials to send usage over NATS',
      description:
        'For the API key that asks: with them a system publishes to `subject` and nowhere else, and is answered as by `POST /events` when the usage is durable. They end with the key.',
      tag,
      status: 201,
      permission: 'event:write',
      body: issueUsageCredentialsSchema,
      response: issuedUsageCredentialsSchema,
      example: {
        body: { name: newText('Models'), expires_at: '2035-01-01T00:00:00Z' },
        makes: 'ucred',
      },
      handle: async (context, { body: { name, expires_at = null } }) => {
        if (!gateway) throw noGateway();
        const { keyId, userId } = context.principal;
        const id = context.newId('ucred');
        const outcome = await context.execute(usageCredentials, id, {
          prepare: async () => {
            await refuseBeyondListed(context, usageCredentialsTable, credentialsQuota);
            return issueUsageCredentials({ id, name, key_id: keyId, user_id: userId, expires_at });
          },
        });
        const record = existing(outcome.state, 'usage credentials');
        if (record.key_id !== keyId) {
          throw new Problem(
            'permission_denied',
            'This idempotency key was used by another API key.',
          );
        }
        await context.carryOut(accessOfUsageCredentials(gateway), id, outcome);
        return issuedView(record, gateway);
      },
    }),

    'GET /usage/credentials': route({
      summary: 'List credentials to send usage over NATS',
      tag,
      status: 200,
      permission: 'secret:read',
      query: ofTable(usageCredentialsTable, z.object(listShape)),
      response: pageSchema(usageCredentialsSchema),
      handle: (context, { query }) => listed(context, usageCredentialsTable, query),
    }),

    'DELETE /usage/credentials/{id}': route({
      operationId: 'revokeUsageCredentials',
      summary: 'Revoke credentials to send usage over NATS',
      description:
        'For good: connections with them are closed. Those of others can be revoked by a super_admin.',
      tag,
      status: 204,
      permission: 'event:write',
      params: z.object({ id: referenceSchema('ucred') }),
      handle: async (context, { params: { id } }) => {
        const { userId, roles } = context.principal;
        const decision = revokeUsageCredentials(id, { userId, isAdmin: isSuperAdmin(roles) });
        const outcome = await context.execute(usageCredentials, id, decision);
        if (gateway) await context.carryOut(accessOfUsageCredentials(gateway), id, outcome);
        return undefined;
      },
    }),
  }) satisfies Routes;

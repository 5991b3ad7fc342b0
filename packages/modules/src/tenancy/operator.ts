import {
  type Module,
  module,
  newRecord,
  newText,
  ofTable,
  type Principal,
  pageSchema,
  type RequestContext,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import {
  derivedId,
  type EnvironmentId,
  type KeyId,
  notFound,
  referenceSchema,
  sha256,
  type TenantId,
  type UserId,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { apiKey, type KeyOwner, revokeApiKey } from './api-key.ts';
import { keyMaker } from './api-key-routes.ts';
import type { Directory } from './directory.ts';
import { environment } from './environment.ts';
import { newEnvironment } from './environment-routes.ts';
import type { KeyMaterial } from './key-material.ts';
import { apiKeyTable, environmentTable, userTable } from './projection.ts';
import { listApiKeys, listEnvironments, searchUsers } from './queries.ts';
import {
  apiKeyListSchema,
  apiKeySchema,
  createEnvironmentSchema,
  createUserSchema,
  environmentListSchema,
  environmentSchema,
  environmentsSchema,
  issuedKeySchema,
  operatorKeySchema,
  operatorTenantSchema,
  tenantListSchema,
  tenantSchema,
  userListSchema,
  userSchema,
} from './schema.ts';
import { createTenant, tenant, tenantView } from './tenant.ts';
import { type Granter, user } from './user.ts';
import { newUser } from './user-routes.ts';

const tag = 'Operator';
const everything = ['super_admin'] as const;

/**
 * The operator as a caller. Ids that follow from an idempotency key follow from the operator's key too,
 * so that no two installations make the same ones.
 */
export function operatorPrincipal(operatorKey: string): Principal {
  const seed = sha256(`operator\n${operatorKey}`);
  return {
    tenantId: derivedId('tenant', seed),
    environmentId: derivedId('env', seed),
    userId: 'user_operator' as UserId,
    keyId: 'secret_operator' as KeyId,
    roles: everything,
    allows: () => true,
  };
}

const asOperator: Granter = { userId: null, roles: everything };

/** The request within a tenant that exists. */
async function inTenant(context: RequestContext, tenantId: TenantId): Promise<RequestContext> {
  const { environmentId } = context.principal;
  const inside = context.within({ tenantId, environmentId });
  const state = await inside.load(tenant, tenantId);
  if (state?.status !== 'published') throw notFound('tenant', tenantId);
  return inside;
}

/** The request within an environment that exists. */
async function inEnvironment(
  context: RequestContext,
  tenantId: TenantId,
  environmentId: EnvironmentId,
): Promise<RequestContext> {
  const inside = await inTenant(context, tenantId);
  const state = await inside.load(environment, environmentId);
  if (state?.status !== 'published') {
    throw notFound('environment', environmentId, 'environment_id');
  }
  return context.within({ tenantId, environmentId });
}

/** A user as the owner of a key, which gets all roles of the user. */
async function ownerOf(context: RequestContext, id: UserId): Promise<KeyOwner> {
  const state = await context.load(user, id);
  if (state?.status !== 'published') throw notFound('user', id, 'user_id');
  const { type, name, roles } = state;
  const service_account_name = type === 'service_account' ? name : null;
  return { user_id: id, user_type: type, service_account_name, roles };
}

const ofTenant = z.object({ id: referenceSchema('tenant') });
const ofKey = z.object({
  id: referenceSchema('tenant'),
  environment_id: referenceSchema('env'),
  key_id: referenceSchema('secret'),
});
const ofEnvironment = ofKey.omit({ key_id: true });

const tenantRoutes = (directory: Directory) =>
  ({
    'GET /tenants': route({
      summary: 'List all tenants',
      tag,
      status: 200,
      permission: 'tenant:read',
      query: tenantListSchema,
      response: pageSchema(tenantSchema),
      handle: async (_context, { query: { limit, offset } }) => {
        const all = directory.tenants();
        const items = all.slice(offset, offset + limit).map(tenantView);
        return { items, pagination: { limit, offset, total: all.length } };
      },
    }),

    'POST /tenants': route({
      summary: 'Create a tenant',
      description: 'It has no environment, user or key yet; those are made one by one.',
      tag,
      status: 201,
      permission: 'tenant:write',
      body: operatorTenantSchema,
      response: tenantSchema,
      example: { body: { name: newText('Acme') }, makes: 'tenant' },
      handle: async (context, { body }) => {
        const tenantId = context.newId('tenant');
        const { environmentId } = context.principal;
        const { state, revision } = await context
          .within({ tenantId, environmentId })
          .execute(tenant, tenantId, createTenant(tenantId, body.name));
        return withETag(tenantView(state), revision);
      },
    }),

    'GET /tenants/{id}': route({
      summary: 'Get a tenant',
      tag,
      status: 200,
      permission: 'tenant:read',
      params: ofTenant,
      response: tenantSchema,
      handle: async (context, { params: { id } }) =>
        tenantView(await (await inTenant(context, id)).load(tenant, id)),
    }),
  }) satisfies Routes;

const memberRoutes = (directory: Directory) =>
  ({
    'GET /tenants/{id}/environments': route({
      summary: 'List the environments of a tenant',
      tag,
      status: 200,
      permission: 'environment:read',
      params: ofTenant,
      query: ofTable(environmentTable, environmentListSchema),
      response: environmentsSchema,
      handle: async (context, { params: { id }, query }) =>
        listEnvironments(await inTenant(context, id), query),
    }),

    'POST /tenants/{id}/environments': route({
      summary: 'Create an environment',
      tag,
      status: 201,
      permission: 'environment:write',
      params: ofTenant,
      body: createEnvironmentSchema,
      response: environmentSchema,
      example: { body: { name: newText('Production'), type: 'production' }, makes: 'env' },
      handle: async (context, { params: { id }, body }) =>
        newEnvironment(await inTenant(context, id), directory, body),
    }),

    'GET /tenants/{id}/users': route({
      summary: 'List the users of a tenant',
      tag,
      status: 200,
      permission: 'user:read',
      params: ofTenant,
      query: ofTable(userTable, userListSchema),
      response: pageSchema(userSchema),
      handle: async (context, { params: { id }, query }) =>
        searchUsers(await inTenant(context, id), query),
    }),

    'POST /tenants/{id}/users': route({
      summary: 'Create a person or a service account',
      tag,
      status: 201,
      permission: 'user:write',
      params: ofTenant,
      body: createUserSchema,
      response: userSchema,
      example: {
        body: { type: 'user', email: newText('ada@example.com'), roles: ['super_admin'] },
        makes: 'user',
      },
      handle: async (context, { params: { id }, body }) =>
        newUser(await inTenant(context, id), directory, body, asOperator),
    }),
  }) satisfies Routes;

const keyRoutes = (makeKey: ReturnType<typeof keyMaker>) =>
  ({
    'GET /tenants/{id}/environments/{environment_id}/keys': route({
      summary: 'List the API keys of an environment, masked',
      tag,
      status: 200,
      permission: 'secret:read',
      params: ofEnvironment,
      query: ofTable(apiKeyTable, apiKeyListSchema),
      response: pageSchema(apiKeySchema),
      handle: async (context, { params: { id, environment_id }, query }) =>
        listApiKeys(await inEnvironment(context, id, environment_id), query),
    }),

    'POST /tenants/{id}/environments/{environment_id}/keys': route({
      summary: 'Create an API key for a user',
      description: 'It has all roles of the user. `api_key` is shown in this answer alone.',
      tag,
      status: 201,
      permission: 'secret:write',
      params: ofEnvironment,
      body: operatorKeySchema,
      response: issuedKeySchema,
      example: {
        body: { name: newText('First key'), user_id: newRecord('user') },
        makes: 'secret',
        madeIn: 'secret',
      },
      handle: async (context, { params: { id, environment_id }, body: { user_id, ...key } }) => {
        const inside = await inEnvironment(context, id, environment_id);
        return makeKey(inside, { ...key, ownerFor: () => ownerOf(inside, user_id) });
      },
    }),

    'DELETE /tenants/{id}/environments/{environment_id}/keys/{key_id}': route({
      summary: 'Revoke an API key',
      description: 'Effective at once, and for good.',
      tag,
      status: 204,
      permission: 'secret:write',
      params: ofKey,
      handle: async (context, { params: { id, environment_id, key_id } }) => {
        const inside = await inEnvironment(context, id, environment_id);
        await inside.execute(apiKey, key_id, revokeApiKey(key_id, asOperator));
        return undefined;
      },
    }),
  }) satisfies Routes;

export interface OperatorOptions {
  /** The server's secret, from which API keys are made; null where the routes are only described. */
  readonly keyMaterial: KeyMaterial | null;
  readonly directory: Directory;
}

/** The routes of the operator. */
export const operatorRoutes = ({ keyMaterial, directory }: OperatorOptions) => ({
  ...tenantRoutes(directory),
  ...memberRoutes(directory),
  ...keyRoutes(keyMaker(keyMaterial, directory)),
});

/** The routes with their exact types, for the typed client. */
export type OperatorRoutes = ReturnType<typeof operatorRoutes>;

/** The operator's work on tenants, which is served apart from everything that tenants call. */
export const operator = (options: OperatorOptions): Module =>
  module({
    name: 'operator',
    aggregates: [],
    tables: [],
    routes: operatorRoutes(options),
    publicEvents: [],
  });

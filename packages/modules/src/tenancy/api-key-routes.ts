import {
  newText,
  ofTable,
  pageSchema,
  type RequestContext,
  type Routes,
  route,
} from '@counterfoil/engine/define';
import {
  type EnvironmentId,
  type Instant,
  invariant,
  notFound,
  Problem,
  referenceSchema,
  type UserId,
} from '@counterfoil/kernel';
import { z } from 'zod';
import {
  type ApiKeyState,
  apiKey,
  apiKeyView,
  createApiKey,
  type KeyOwner,
  keyOwner,
  revokeApiKey,
} from './api-key.ts';
import { callingUser, granterOf } from './caller.ts';
import type { Directory } from './directory.ts';
import { environment } from './environment.ts';
import { refuseUnlessAdmin } from './environment-routes.ts';
import { deriveKey, fingerprintOf, type KeyMaterial } from './key-material.ts';
import { refuseBeyondLimit } from './limits.ts';
import { apiKeyTable } from './projection.ts';
import { listApiKeys } from './queries.ts';
import { apiKeyListSchema, apiKeySchema, createApiKeySchema, issuedKeySchema } from './schema.ts';
import { user } from './user.ts';

const tag = 'API keys';

/** The user that the caller makes a key for: itself, or the service account that is named. */
async function ownerFor(context: RequestContext, accountId: UserId | null): Promise<KeyOwner> {
  const caller = await callingUser(context);
  const account = accountId && (await context.load(user, accountId));
  if (accountId && account?.status !== 'published') {
    throw notFound('service account', accountId, 'service_account_id');
  }
  return keyOwner(caller, granterOf(context).roles, account);
}

/**
 * Returns the answer to a key's creation. A repetition of the request shows the same key again, but
 * only to the user who saw it first, and only if the server can still derive it.
 */
function issued(context: RequestContext, state: ApiKeyState, key: string) {
  const secret = apiKeyView(state);
  if (secret.created_by !== context.principal.userId) {
    throw new Problem('permission_denied', 'This idempotency key was used by another user.');
  }
  if (state?.hash !== fingerprintOf(key).hash) {
    throw new Problem(
      'invalid_operation',
      `The key ${secret.id} cannot be shown again: the server's secret key has changed since it ` +
        'was made. Revoke it and create another one.',
    );
  }
  return { secret, api_key: key };
}

/** A key to be made in the environment of a context. */
interface KeyRequest {
  readonly name: string;
  readonly expires_at?: Instant | null | undefined;
  readonly ownerFor: () => Promise<KeyOwner>;
}

/** Makes keys, from the server's secret and as far as the limit of the environment allows. */
export const keyMaker =
  (material: KeyMaterial | null, directory: Directory) =>
  async (context: RequestContext, { name, expires_at, ownerFor }: KeyRequest) => {
    invariant(material, 'this process was started without the secret key');
    const { environmentId } = context.principal;
    const id = context.newId('secret');
    const key = deriveKey(material, environmentId, id);
    const { state } = await context.execute(apiKey, id, {
      prepare: async () => {
        refuseBeyondLimit(directory, 'api_key', environmentId);
        const owner = await ownerFor();
        const fingerprint = fingerprintOf(key);
        return createApiKey({ id, name, ...fingerprint, owner, expires_at: expires_at ?? null });
      },
    });
    return issued(context, state, key);
  };

/** The request in an environment of the caller's tenant: its own, or as super_admin any other. */
async function inEnvironment(
  context: RequestContext,
  environmentId: EnvironmentId | null | undefined,
): Promise<RequestContext> {
  const { tenantId, environmentId: own } = context.principal;
  if (!environmentId || environmentId === own) return context;
  refuseUnlessAdmin(context, 'make a key for another environment');
  const state = await context.load(environment, environmentId);
  if (state?.status !== 'published') {
    throw notFound('environment', environmentId, 'environment_id');
  }
  return context.within({ tenantId, environmentId });
}

const creation = (makeKey: ReturnType<typeof keyMaker>) =>
  route({
    summary: 'Create an API key',
    description:
      'For the caller with its own roles or, by a super_admin, for a service account or in another environment. `api_key` is shown in this answer alone.',
    tag,
    status: 201,
    permission: 'secret:write',
    body: createApiKeySchema,
    response: issuedKeySchema,
    example: {
      body: { name: newText('Nightly import'), type: 'private_key' },
      makes: 'secret',
      madeIn: 'secret',
    },
    handle: async (context, { body: { environment_id, service_account_id, ...key } }) =>
      makeKey(await inEnvironment(context, environment_id), {
        ...key,
        ownerFor: () => ownerFor(context, service_account_id ?? null),
      }),
  });

const routes = {
  'GET /secrets/api/keys': route({
    summary: 'List API keys, masked',
    description: 'The own keys; for a super_admin all keys of the environment.',
    tag,
    status: 200,
    permission: 'secret:read',
    query: ofTable(apiKeyTable, apiKeyListSchema),
    response: pageSchema(apiKeySchema),
    handle: (context, { query }) => listApiKeys(context, query),
  }),

  'DELETE /secrets/api/keys/{id}': route({
    summary: 'Revoke an API key',
    description: 'Effective at once, and for good. Keys of others can be revoked by a super_admin.',
    tag,
    status: 204,
    permission: 'secret:write',
    params: z.object({ id: referenceSchema('secret') }),
    handle: async (context, { params: { id } }) => {
      await context.execute(apiKey, id, revokeApiKey(id, granterOf(context)));
      return undefined;
    },
  }),
} satisfies Routes;

/** The routes of API keys. Without key material they cannot make any. */
export const apiKeyRoutes = (material: KeyMaterial | null, directory: Directory) =>
  ({
    'POST /secrets/api/keys': creation(keyMaker(material, directory)),
    ...routes,
  }) satisfies Routes;

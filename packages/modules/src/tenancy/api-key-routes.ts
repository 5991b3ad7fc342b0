import {
  newText,
  pageSchema,
  type RequestContext,
  type Routes,
  route,
} from '@counterfoil/engine/define';
import { invariant, notFound, Problem, referenceSchema, type UserId } from '@counterfoil/kernel';
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
import { deriveKey, fingerprintOf, type KeyMaterial } from './key-material.ts';
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

/** Makes keys from the server's secret. */
const creation = (material: KeyMaterial | null) =>
  route({
    summary: 'Create an API key',
    description:
      'Made for the caller with its own roles or, by a super_admin, for a service account. ' +
      '`api_key` is shown in this answer alone: it is stored nowhere.',
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
    handle: async (context, { body }) => {
      invariant(material, 'this process was started without the secret key');
      const id = context.newId('secret');
      const key = deriveKey(material, context.principal.environmentId, id);
      const { state } = await context.execute(apiKey, id, {
        prepare: async () =>
          createApiKey({
            id,
            name: body.name,
            ...fingerprintOf(key),
            owner: await ownerFor(context, body.service_account_id ?? null),
            expires_at: body.expires_at ?? null,
          }),
      });
      return issued(context, state, key);
    },
  });

const routes = {
  'GET /secrets/api/keys': route({
    summary: 'List API keys, masked',
    description: 'The own keys; for a super_admin all keys of the environment.',
    tag,
    status: 200,
    permission: 'secret:read',
    query: apiKeyListSchema,
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
export const apiKeyRoutes = (material: KeyMaterial | null) =>
  ({ 'POST /secrets/api/keys': creation(material), ...routes }) satisfies Routes;

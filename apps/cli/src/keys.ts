import { createStreams, openEventStore, type Streams, systemContext } from '@counterfoil/engine';
import {
  type EnvironmentId,
  instantOf,
  type KeyId,
  randomId,
  type TenantId,
  type UserId,
} from '@counterfoil/kernel';
import {
  apiKey,
  createApiKey,
  deriveKey,
  fingerprintOf,
  modules,
  revokeApiKey,
  secretsFrom,
  user,
} from '@counterfoil/modules';
import { OperatorError } from './settings.ts';

/** The user and the environment of a key. */
export interface KeyPlace {
  readonly tenantId: TenantId;
  readonly environmentId: EnvironmentId;
}

async function withStreams<Result>(
  eventStoreUrl: string,
  work: (streams: Streams) => Promise<Result>,
): Promise<Result> {
  const store = openEventStore({ url: eventStoreUrl });
  try {
    const aggregates = modules({ secrets: null }).flatMap((slice) => slice.aggregates);
    return await work(createStreams({ store, aggregates }));
  } finally {
    await store.close();
  }
}

/**
 * `counterfoil keys issue`: makes an API key for a user, on behalf of the operator. Gives the key, which
 * is shown this once. Throws `OperatorError` when there is no such user.
 */
export const issueKey = (
  eventStoreUrl: string,
  secretKey: string,
  { tenantId, environmentId, userId, name }: KeyPlace & { userId: UserId; name: string },
): Promise<{ readonly id: KeyId; readonly apiKey: string }> =>
  withStreams(eventStoreUrl, async (streams) => {
    const { state: owner } = await streams
      .writer<typeof user.initial>(user, tenantId, userId)
      .current();
    if (!owner) throw new OperatorError(`Tenant ${tenantId} has no user ${userId}.`);
    const id = randomId('secret', instantOf(Date.now()));
    const key = deriveKey(secretsFrom(secretKey).keyMaterial, environmentId, id);
    const decision = createApiKey({
      id,
      name,
      ...fingerprintOf(key),
      owner: {
        user_id: userId,
        user_type: owner.type,
        service_account_name: owner.type === 'service_account' ? owner.name : null,
        roles: owner.roles,
      },
      expires_at: null,
    });
    const context = systemContext(streams, {
      tenantId,
      environmentId,
      correlationId: 'keys issue',
    });
    await context.execute(apiKey, id, decision);
    return { id, apiKey: key };
  });

/** `counterfoil keys revoke`: ends a key for good, in every process at once. */
export const revokeKey = (
  eventStoreUrl: string,
  { tenantId, environmentId, keyId }: KeyPlace & { keyId: KeyId },
): Promise<void> =>
  withStreams(eventStoreUrl, async (streams) => {
    const context = systemContext(streams, {
      tenantId,
      environmentId,
      correlationId: 'keys revoke',
    });
    const operator = { userId: null, roles: ['super_admin'] as const };
    await context.execute(apiKey, keyId, revokeApiKey(keyId, operator));
  });

import type { RequestContext } from '@counterfoil/engine/define';
import {
  type Aggregate,
  type Decision,
  derivedId,
  type EnvironmentId,
  type EventCatalogue,
  type EventOf,
  type KeyId,
  type TenantId,
  type UserId,
} from '@counterfoil/kernel';
import { apiKey, createApiKey } from './api-key.ts';
import { createEnvironment, environment } from './environment.ts';
import { deriveKey, fingerprintOf, type KeyMaterial } from './key-material.ts';
import type { Role } from './roles.ts';
import type { EnvironmentType } from './schema.ts';
import { createTenant, tenant } from './tenant.ts';
import { createUser, user } from './user.ts';

/** A first tenant, and the person who owns it. */
export interface FirstTenant {
  /** The same seed always makes the same ids and, with the same key material, the same key. */
  readonly seed: string;
  readonly tenantName: string;
  readonly environmentName: string;
  readonly environmentType: EnvironmentType;
  readonly userName: string;
  readonly email: string;
  readonly keyName: string;
}

/** Creates one record in a context. A record that exists already is left as it is. */
export type Creation = (context: Pick<RequestContext, 'execute'>) => Promise<unknown>;

const creation =
  <Catalogue extends EventCatalogue, State>(
    aggregate: Aggregate<string, Catalogue, State>,
    id: string,
    decide: Decision<State, EventOf<Catalogue>>,
  ): Creation =>
  (context) =>
    context.execute(aggregate, id, (state, at) =>
      state === aggregate.initial ? decide(state, at) : [],
    );

export interface FirstTenantPlan {
  readonly tenantId: TenantId;
  readonly environmentId: EnvironmentId;
  readonly userId: UserId;
  readonly keyId: KeyId;
  /** The whole key, to be shown and not stored. */
  readonly apiKey: string;
  readonly creations: readonly Creation[];
}

const owner: readonly Role[] = ['super_admin'];

/**
 * Returns everything that a fresh service needs before anybody can call it: a tenant with one
 * environment, a person who is super_admin in it, and a key for that person. The creations are to be
 * run in the order in which they stand, in a context of that tenant and environment that acts for the
 * service itself. Running them again changes nothing.
 */
export function firstTenant(input: FirstTenant, material: KeyMaterial): FirstTenantPlan {
  const tenantId: TenantId = derivedId('tenant', input.seed);
  const environmentId: EnvironmentId = derivedId('env', input.seed);
  const userId: UserId = derivedId('user', input.seed);
  const keyId: KeyId = derivedId('secret', input.seed);
  const key = deriveKey(material, environmentId, keyId);
  const person = {
    type: 'user',
    email: input.email,
    name: input.userName,
    roles: [...owner],
  } as const;
  return {
    tenantId,
    environmentId,
    userId,
    keyId,
    apiKey: key,
    creations: [
      creation(tenant, tenantId, createTenant(tenantId, input.tenantName)),
      creation(
        environment,
        environmentId,
        createEnvironment(environmentId, {
          name: input.environmentName,
          type: input.environmentType,
        }),
      ),
      creation(user, userId, createUser(userId, person, { userId: null, roles: owner })),
      creation(
        apiKey,
        keyId,
        createApiKey({
          id: keyId,
          name: input.keyName,
          ...fingerprintOf(key),
          owner: { user_id: userId, user_type: 'user', service_account_name: null, roles: owner },
          expires_at: null,
        }),
      ),
    ],
  };
}

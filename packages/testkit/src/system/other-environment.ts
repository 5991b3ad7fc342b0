import { createStreams, systemContext } from '@counterfoil/engine';
import { derivedId } from '@counterfoil/kernel';
import {
  apiKey,
  createApiKey,
  createEnvironment,
  deriveKey,
  environment,
  fingerprintOf,
  modules,
  secretsFrom,
} from '@counterfoil/modules';
import { caller } from '../caller.ts';
import type { Stack, TestTenant } from '../stack.ts';

/** A second environment of a tenant, with a key of the same person that may do everything in it. */
export async function otherEnvironment(
  stack: Stack,
  { tenantId, ...tenant }: TestTenant,
): Promise<TestTenant> {
  const secrets = secretsFrom(stack.secretKey);
  const environmentId = derivedId('env', `${tenantId} other`);
  const keyId = derivedId('secret', `${tenantId} other`);
  const key = deriveKey(secrets.keyMaterial, environmentId, keyId);
  const { id: userId } = await tenant.ok('GET', '/users/me');
  const streams = createStreams({
    store: stack.store,
    aggregates: modules({ secrets }).flatMap(({ aggregates }) => aggregates),
  });
  const context = systemContext(streams, { tenantId, environmentId, correlationId: 'test' });
  await context.execute(
    environment,
    environmentId,
    createEnvironment(environmentId, { name: 'Other', type: 'production' }),
  );
  await context.execute(
    apiKey,
    keyId,
    createApiKey({
      id: keyId,
      name: 'Key of the other environment',
      ...fingerprintOf(key),
      owner: {
        user_id: userId,
        user_type: 'user',
        service_account_name: null,
        roles: ['super_admin'],
      },
      expires_at: null,
    }),
  );
  const call = caller(stack.baseUrl, key);
  await call.untilKnown();
  return { tenantId, environmentId, apiKey: key, ...call };
}

import { createStreams, openEventStore, systemContext } from '@counterfoil/engine';
import { type FirstTenantPlan, firstTenant, modules, secretsFrom } from '@counterfoil/modules';

/** The tenant that a fresh installation starts with. */
const demoTenant = {
  seed: 'counterfoil demo tenant',
  tenantName: 'Demo Company',
  environmentName: 'Production',
  environmentType: 'production',
  userName: 'Demo Owner',
  email: 'owner@example.com',
  keyName: 'Demo key',
} as const;

/**
 * Creates the demo tenant with its environment, owner and API key. Doing it again changes nothing
 * and gives the same key, as long as the secret key is the same.
 */
export async function seedDemoTenant(
  eventStoreUrl: string,
  secretKey: string,
): Promise<Pick<FirstTenantPlan, 'apiKey' | 'tenantId' | 'environmentId'>> {
  const secrets = secretsFrom(secretKey);
  const store = openEventStore({ url: eventStoreUrl });
  try {
    const aggregates = modules({ secrets }).flatMap((slice) => slice.aggregates);
    const plan = firstTenant(demoTenant, secrets.keyMaterial);
    const context = systemContext(createStreams({ store, aggregates }), {
      tenantId: plan.tenantId,
      environmentId: plan.environmentId,
      correlationId: 'seed',
    });
    for (const create of plan.creations) await create(context);
    return plan;
  } finally {
    await store.close();
  }
}

import { createStreams, openEventStore, systemContext } from '@counterfoil/engine';
import {
  type FirstTenant,
  type FirstTenantPlan,
  firstTenant,
  modules,
  secretsFrom,
} from '@counterfoil/modules';

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

/** A second tenant, whose records the first must not see. */
export const secondTenant: FirstTenant = {
  seed: 'counterfoil second tenant',
  tenantName: 'Northlight Models',
  environmentName: 'Production',
  environmentType: 'production',
  userName: 'Northlight Owner',
  email: 'owner@northlight.example.com',
  keyName: 'Northlight key',
};

type Seeded = Pick<FirstTenantPlan, 'apiKey' | 'tenantId' | 'environmentId'>;

/** Creates the demo tenant, as `seedTenant` does. */
export const seedDemoTenant = (eventStoreUrl: string, secretKey: string): Promise<Seeded> =>
  seedTenant(eventStoreUrl, secretKey, demoTenant);

/**
 * Creates a tenant with its environment, owner and API key. A repetition changes nothing and gives the
 * same key, as long as the secret key is the same.
 */
export async function seedTenant(
  eventStoreUrl: string,
  secretKey: string,
  tenant: FirstTenant,
): Promise<Seeded> {
  const secrets = secretsFrom(secretKey);
  const store = openEventStore({ url: eventStoreUrl });
  try {
    const aggregates = modules({ secrets }).flatMap((slice) => slice.aggregates);
    const plan = firstTenant(tenant, secrets.keyMaterial);
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

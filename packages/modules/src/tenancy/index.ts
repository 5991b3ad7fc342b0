import { type Module, module } from '@counterfoil/engine/define';
import { apiKey } from './api-key.ts';
import { environment } from './environment.ts';
import type { KeyMaterial } from './key-material.ts';
import { apiKeyTable, tenantTable, userTable } from './projection.ts';
import { tenancyRoutes } from './routes.ts';
import { tenant } from './tenant.ts';
import { user } from './user.ts';

export { apiKey, apiKeyView, createApiKey, keyOwner, revokeApiKey } from './api-key.ts';
export { type Creation, type FirstTenant, type FirstTenantPlan, firstTenant } from './bootstrap.ts';
export { createEnvironment, type EnvironmentType, environment } from './environment.ts';
export { deriveKey, fingerprintOf, type KeyMaterial, readKeyMaterial } from './key-material.ts';
export {
  authenticationAggregates,
  type KeyRegistry,
  keyRegistry,
  type RegistryEvent,
} from './key-registry.ts';
export { allows, type Role, type UserType } from './roles.ts';
export { createTenant, tenant } from './tenant.ts';
export { createUser, type Granter, type UserRecord, user } from './user.ts';

export interface TenancyOptions {
  /** The server's secret, from which API keys are made; null in processes that make none. */
  readonly keyMaterial: KeyMaterial | null;
}

/** The tenants, environments, users and API keys: who may call, and on whose behalf. */
export const tenancy = ({ keyMaterial }: TenancyOptions): Module =>
  module({
    name: 'tenancy',
    aggregates: [tenant, environment, user, apiKey],
    tables: [tenantTable, userTable, apiKeyTable],
    routes: tenancyRoutes(keyMaterial),
    publicEvents: [],
  });

/** The routes with their exact types, for the typed client. */
export type TenancyRoutes = ReturnType<typeof tenancyRoutes>;

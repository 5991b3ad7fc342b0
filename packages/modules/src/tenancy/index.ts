import { type Module, module } from '@counterfoil/engine/define';
import { apiKey } from './api-key.ts';
import { createDirectory, type Directory } from './directory.ts';
import { environment } from './environment.ts';
import { installation } from './installation.ts';
import type { KeyMaterial } from './key-material.ts';
import { apiKeyTable, environmentTable, tenantTable, userTable } from './projection.ts';
import { tenancyRoutes } from './routes.ts';
import { tenant } from './tenant.ts';
import { user } from './user.ts';

export { apiKey, apiKeyView, createApiKey, keyOwner, revokeApiKey } from './api-key.ts';
export { type Creation, type FirstTenant, type FirstTenantPlan, firstTenant } from './bootstrap.ts';
export {
  createDirectory,
  type Directory,
  type DirectoryEvent,
  directoryAggregates,
} from './directory.ts';
export {
  createEnvironment,
  type EnvironmentRecord,
  environment,
  requestClone,
} from './environment.ts';
export { refuseUnlessAdmin } from './environment-routes.ts';
export {
  beginInstallation,
  installation,
  installationId,
  installationPlace,
  seedOf,
} from './installation.ts';
export { deriveKey, fingerprintOf, type KeyMaterial, readKeyMaterial } from './key-material.ts';
export { refuseBeyondLimit } from './limits.ts';
export {
  type OperatorOptions,
  type OperatorRoutes,
  operator,
  operatorPrincipal,
} from './operator.ts';
export { defaultTimeZone, ownTenant, usersById } from './queries.ts';
export { allows, isSuperAdmin, type Role, type UserType } from './roles.ts';
export {
  type EnvironmentType,
  environmentTypeSchema,
  type Tenant as TenantResource,
  userSchema,
} from './schema.ts';
export { createTenant, tenant } from './tenant.ts';
export { createUser, type Granter, type UserRecord, user } from './user.ts';

export interface TenancyOptions {
  /** The server's secret, from which API keys are made; null in processes that make none. */
  readonly keyMaterial: KeyMaterial | null;
  /** The directory that limits are counted in; left out in processes that serve no requests. */
  readonly directory?: Directory | undefined;
}

/** The tenants, environments, users and API keys: who may call, and on whose behalf. */
export const tenancy = ({ keyMaterial, directory }: TenancyOptions): Module =>
  module({
    name: 'tenancy',
    aggregates: [installation, tenant, environment, user, apiKey],
    tables: [tenantTable, environmentTable, userTable, apiKeyTable],
    routes: tenancyRoutes(keyMaterial, directory ?? createDirectory()),
    publicEvents: [],
  });

/** The routes with their exact types, for the typed client. */
export type TenancyRoutes = ReturnType<typeof tenancyRoutes>;

import type { Principal } from '@counterfoil/engine/define';
import type { EnvironmentId, KeyId, TenantId, UserId } from '@counterfoil/kernel';

/** A caller that may do everything in an environment of the tenant `tenant_01`. */
export const testPrincipal = (environment = 'env_01'): Principal => ({
  tenantId: 'tenant_01' as TenantId,
  environmentId: environment as EnvironmentId,
  userId: 'user_01' as UserId,
  keyId: 'secret_01' as KeyId,
  roles: ['super_admin'],
  allows: () => true,
});

import type { Routes } from '@counterfoil/engine/define';
import { apiKeyRoutes } from './api-key-routes.ts';
import type { Directory } from './directory.ts';
import { environmentRoutes } from './environment-routes.ts';
import type { KeyMaterial } from './key-material.ts';
import { roleRoutes } from './role-routes.ts';
import { tenantRoutes } from './tenant-routes.ts';
import { userRoutes } from './user-routes.ts';

/**
 * All routes that tenants call. Keys are made from `material`, null where none are made; limits are
 * counted in the directory.
 */
export const tenancyRoutes = (material: KeyMaterial | null, directory: Directory) =>
  ({
    ...userRoutes(directory),
    ...roleRoutes,
    ...tenantRoutes,
    ...environmentRoutes(directory),
    ...apiKeyRoutes(material, directory),
  }) satisfies Routes;

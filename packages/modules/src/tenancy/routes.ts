import type { Routes } from '@counterfoil/engine/define';
import { apiKeyRoutes } from './api-key-routes.ts';
import type { KeyMaterial } from './key-material.ts';
import { tenantRoutes } from './tenant-routes.ts';
import { userRoutes } from './user-routes.ts';

/** All routes of the slice. Keys are made from `material`; null where none are made. */
export const tenancyRoutes = (material: KeyMaterial | null) =>
  ({ ...userRoutes, ...tenantRoutes, ...apiKeyRoutes(material) }) satisfies Routes;

import type { Routes } from '@counterfoil/engine/define';
import { deliveryRoutes } from './delivery-routes.ts';
import { endpointRoutes } from './endpoint-routes.ts';
import type { WebhookOptions } from './options.ts';
import { taskRoutes } from './task-routes.ts';

/** The routes of webhooks: endpoints, what was delivered to them, and what can be asked for. */
export const webhookRoutes = (options: WebhookOptions) =>
  ({
    ...endpointRoutes(options),
    ...deliveryRoutes(options),
    ...taskRoutes(options),
  }) satisfies Routes;

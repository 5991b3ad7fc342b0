import type { Routes } from '@counterfoil/engine/define';
import { deliveryRoutes } from './delivery/routes.ts';
import { typesOffered } from './endpoint/event-types.ts';
import { endpointPublicEvents } from './endpoint/public-events.ts';
import { endpointRoutes } from './endpoint/routes.ts';
import type { WebhookOptions } from './options.ts';
import { taskRoutes } from './task/routes.ts';

/** The routes of webhooks: endpoints, their deliveries, and tasks. */
export function webhookRoutes(options: WebhookOptions) {
  const offered = typesOffered([...options.publicEvents, endpointPublicEvents]);
  return {
    ...endpointRoutes(options, offered),
    ...deliveryRoutes(options),
    ...taskRoutes(offered),
  } satisfies Routes;
}

import { module } from '@counterfoil/engine/define';
import { webhookEndpoint } from './endpoint/endpoint.ts';
import { endpointPublicEvents } from './endpoint/public-events.ts';
import type { WebhookOptions } from './options.ts';
import { endpointTable, taskTable } from './projection.ts';
import { webhookMigrations } from './queue/migrations.ts';
import { webhookRoutes } from './routes.ts';
import { webhookTask } from './task/task.ts';

export {
  createSealer,
  SealBroken,
  type Sealed,
  type Sealer,
  sealedSchema,
} from './endpoint/sealing.ts';
export { isSecret } from './endpoint/secret.ts';
export type { WebhookOptions } from './options.ts';
export { FileNotFetched, fetchedFile } from './sending/fetch-file.ts';
export { type Asker, createAsker, NotAnswered, type Question } from './sending/question.ts';
export { guardedLookupOf } from './sending/target-guard.ts';
export { checkTargetUrl, strictTargetPolicy, type TargetPolicy } from './sending/target-policy.ts';
export { targetPolicyOf, targetVariables } from './sending/target-variables.ts';

/** Outgoing webhooks: endpoints, their deliveries, and the tables of the queue. */
export const webhooks = (options: WebhookOptions) =>
  module({
    name: 'webhooks',
    aggregates: [webhookEndpoint, webhookTask],
    tables: [endpointTable, taskTable],
    routes: webhookRoutes(options),
    publicEvents: [endpointPublicEvents],
    migrations: webhookMigrations,
  });

/** The routes with their exact types, for the typed client. */
export type WebhookRoutes = ReturnType<typeof webhookRoutes>;

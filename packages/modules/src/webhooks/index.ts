import { module } from '@counterfoil/engine/define';
import { webhookEndpoint } from './endpoint.ts';
import { webhookMigrations } from './migrations.ts';
import { endpointTable } from './projection.ts';
import { type WebhookOptions, webhookRoutes } from './routes.ts';

export { type Endpoint, sealingContext, webhookEndpoint } from './endpoint.ts';
export { eventTypes, wantsType } from './event-types.ts';
export { webhookMigrations } from './migrations.ts';
export { type EndpointRow, endpointTable } from './projection.ts';
export {
  type AttemptResult,
  type FailureReason,
  type RetryPolicy,
  standardRetryPolicy,
  type Verdict,
  verdictOf,
} from './retry.ts';
export type { WebhookOptions } from './routes.ts';
export { createSealer, SealBroken, type Sealed, type Sealer } from './sealing.ts';
export {
  createSender,
  type Sender,
  type SendLimits,
  type Sent,
  standardSendLimits,
} from './sender.ts';
export { signedHeaders } from './signing.ts';
export { isCidr, strictTargetPolicy, type TargetPolicy } from './target-policy.ts';

/** Outgoing webhooks: endpoints and their settings. The delivery itself is done by its own app. */
export const webhooks = (options: WebhookOptions) =>
  module({
    name: 'webhooks',
    aggregates: [webhookEndpoint],
    tables: [endpointTable],
    routes: webhookRoutes(options),
    publishers: [],
    migrations: webhookMigrations,
  });

/** The routes with their exact types, for the typed client. */
export type WebhookRoutes = ReturnType<typeof webhookRoutes>;

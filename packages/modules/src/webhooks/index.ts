import { module } from '@counterfoil/engine/define';
import { webhookEndpoint } from './endpoint.ts';
import { webhookMigrations } from './migrations.ts';
import type { WebhookOptions } from './options.ts';
import { endpointTable, taskTable } from './projection.ts';
import { endpointPublicEvents } from './public-events.ts';
import { webhookRoutes } from './routes.ts';
import { webhookTask } from './task.ts';

export {
  type Endpoint,
  type ExhaustedMessage,
  type OrderMode,
  type Payload,
  sealingContext,
  webhookEndpoint,
} from './endpoint.ts';
export { disableEndpoint, reportExhausted } from './endpoint-decisions.ts';
export { eventTypes, isOperational, operationalTypes, wantsType } from './event-types.ts';
export {
  type BreakerPolicy,
  type BreakerState,
  type DisableReason,
  type Health,
  healthAfter,
  isNews,
  standardBreakerPolicy,
  unknownHealth,
} from './health.ts';
export { webhookMigrations } from './migrations.ts';
export type { WebhookOptions } from './options.ts';
export { type EndpointRow, endpointTable, taskTable } from './projection.ts';
export {
  type AttemptResult,
  disablingOf,
  type FailureReason,
  isOwnFailure,
  type RetryPolicy,
  standardRetryPolicy,
  type Verdict,
  verdictOf,
} from './retry.ts';
export { createSealer, SealBroken, type Sealed, type Sealer } from './sealing.ts';
export {
  createSender,
  type OutgoingRequest,
  RequestCut,
  type Sender,
  type SendLimits,
  type Sent,
  standardSendLimits,
} from './sender.ts';
export { signedHeaders } from './signing.ts';
export { isCidr, strictTargetPolicy, type TargetPolicy } from './target-policy.ts';
export type { TaskState } from './task.ts';
export type { RequestedTask } from './task-schema.ts';

/** Outgoing webhooks: endpoints and their settings. The delivery itself is done by its own app. */
export const webhooks = (options: WebhookOptions) =>
  module({
    name: 'webhooks',
    aggregates: [webhookEndpoint, webhookTask],
    tables: [endpointTable, taskTable],
    routes: webhookRoutes(options),
    publicEvents: [endpointPublicEvents],
    migrations: webhookMigrations,
  });

export { wholeBodyFrom } from './whole-body.ts';

/** The routes with their exact types, for the typed client. */
export type WebhookRoutes = ReturnType<typeof webhookRoutes>;

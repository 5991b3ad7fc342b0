import { listShape } from '@counterfoil/engine/define';
import {
  clearable,
  instantSchema,
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
  referenceSchema,
  textSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import type { NewEndpoint } from './decisions.ts';
import { type Endpoint, orderModeSchema, payloadSchema, signatureKindSchema } from './endpoint.ts';
import { eventFilterSchema } from './event-types.ts';
import { headersSchema } from './headers.ts';
import { secretSchema } from './secret.ts';

/** The settings of an endpoint that the caller leaves out. */
export const endpointDefaults: Omit<NewEndpoint, 'id' | 'url' | 'headers' | 'secret'> = {
  description: null,
  event_types: null,
  enabled: true,
  order_mode: 'resource_fifo',
  order_guard_seconds: 300,
  max_in_flight: 8,
  rate_limit_per_second: null,
  payload: 'full',
  signature: 'hmac',
  metadata: {},
};

const urlSchema = textSchema(2048).meta({ example: 'https://example.com/webhooks' });

const orderGuardSchema = z.number().int().min(1).max(86_400).nullable().meta({
  description: 'Seconds that later events of a record wait for one that fails; null: no limit',
});

const maxInFlightSchema = z.number().int().min(1).max(64).meta({
  description: 'Deliveries under way at the same time, at most',
});

const rateLimitSchema = z.number().int().min(1).max(10_000).nullable().meta({
  description: 'Deliveries per second at most; null: as many as the endpoint takes',
});

const payloadMemberSchema = payloadSchema.meta({
  description: 'full: the resource as it was at the event; thin: its id alone',
});

/** Members that a creation and a change have in common, but for the filter. */
const settingsShape = {
  description: clearable(textSchema(1024)).optional(),
  enabled: z.boolean().optional(),
  order_mode: orderModeSchema.optional(),
  order_guard_seconds: orderGuardSchema.optional(),
  max_in_flight: maxInFlightSchema.optional(),
  rate_limit_per_second: rateLimitSchema.optional(),
  payload: payloadMemberSchema.optional(),
  headers: headersSchema.nullable().optional(),
  metadata: metadataSchema.optional(),
} as const;

const creationSchema = z.object({
  url: urlSchema,
  ...settingsShape,
  signature: signatureKindSchema.optional(),
  secret: secretSchema.optional(),
});

/** Members that are absent stay as they are. */
const changeSchema = z.object({ url: urlSchema.optional(), ...settingsShape });

/** The bodies that name event types: those that are offered. */
export function endpointBodies(offered: ReadonlySet<string>) {
  const event_types = eventFilterSchema(offered).optional();
  return {
    creation: creationSchema.extend({ event_types }).meta({ id: 'CreateWebhookEndpoint' }),
    change: changeSchema.extend({ event_types }).meta({ id: 'UpdateWebhookEndpoint' }),
  };
}
/** The bodies of a creation and of a change. */
export type EndpointBodies = ReturnType<typeof endpointBodies>;
export type CreateEndpoint = z.output<EndpointBodies['creation']>;
export type ChangeEndpoint = z.output<EndpointBodies['change']>;

/** An endpoint as the API shows it: without its secret and without the values of its headers. */
export const endpointSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    url: z.string(),
    description: z.string().nullable(),
    event_types: z.array(z.string()).nullable(),
    enabled: z.boolean(),
    disabled_reason: z.string().nullable(),
    disabled_at: instantSchema.nullable(),
    order_mode: orderModeSchema,
    order_guard_seconds: z.number().int().nullable(),
    max_in_flight: z.number().int(),
    rate_limit_per_second: z.number().int().nullable(),
    payload: payloadSchema,
    signature: signatureKindSchema,
    header_names: z.array(z.string()),
    metadata: metadataSchema,
  })
  .meta({ id: 'WebhookEndpoint' });
export type EndpointResource = z.output<typeof endpointSchema>;

/** The keys by which receivers check signatures. A private key never leaves the service. */
export const secretAnswerSchema = z
  .object({
    secret: z.string().optional().meta({ description: 'Shared secret; only with signature hmac' }),
    public_key: z.string().optional().meta({ description: 'Only with signature ed25519' }),
  })
  .meta({ id: 'WebhookEndpointSecret' });
export type SecretAnswer = z.output<typeof secretAnswerSchema>;

/** The longest grace period of a former secret: a week. */
export const graceMaximumSeconds = 604_800;

/** The body of a rotation. */
export const rotateSecretSchema = z
  .object({
    grace_seconds: z.number().int().min(0).max(graceMaximumSeconds).default(86_400).meta({
      description: 'How long the former secret signs too',
    }),
    signature: signatureKindSchema.optional(),
    secret: secretSchema.optional(),
  })
  .meta({ id: 'RotateWebhookEndpointSecret' });
export type RotateSecret = z.output<typeof rotateSecretSchema>;

/** A new endpoint with its secret, or with its public key. */
export const createdEndpointSchema = z
  .object({
    ...endpointSchema.shape,
    ...secretAnswerSchema.shape,
  })
  .meta({ id: 'CreatedWebhookEndpoint' });

/** The page and the filters of a list of endpoints. */
export const endpointListSchema = z.object(listShape);

/** The path of an endpoint. */
export const endpointPathSchema = z.object({ id: referenceSchema('webhook') });

/** The resource of an endpoint. */
export const endpointResource = (endpoint: Endpoint): EndpointResource => ({
  id: endpoint.id,
  tenant_id: endpoint.tenant_id,
  environment_id: endpoint.environment_id,
  status: endpoint.status,
  url: endpoint.url,
  description: endpoint.description,
  event_types: endpoint.event_types === null ? null : [...endpoint.event_types],
  enabled: endpoint.enabled,
  disabled_reason: endpoint.disabled_reason,
  disabled_at: endpoint.disabled_at,
  order_mode: endpoint.order_mode,
  order_guard_seconds: endpoint.order_guard_seconds,
  max_in_flight: endpoint.max_in_flight,
  rate_limit_per_second: endpoint.rate_limit_per_second,
  payload: endpoint.payload,
  signature: endpoint.signature,
  header_names: endpoint.headers === null ? [] : [...endpoint.headers.names],
  metadata: { ...endpoint.metadata },
  created_at: endpoint.created_at,
  created_by: endpoint.created_by,
  updated_at: endpoint.updated_at,
  updated_by: endpoint.updated_by,
});

import {
  aggregate,
  createdStamps,
  type Decision,
  type EventOf,
  type Instant,
  instantSchema,
  metadataSchema,
  type RecordStamps,
  type Stamped,
  updatedStamps,
  withChanges,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type Sealed, sealedSchema } from './sealing.ts';

/**
 * The order of an endpoint's deliveries: events of one resource one after the other; all as fast as
 * they go; or all one after the other, and none before its predecessor is finished.
 */
export const orderModeSchema = z.enum(['resource_fifo', 'unordered', 'strict_fifo']);
export type OrderMode = z.output<typeof orderModeSchema>;

/** The content of a delivery: the resource as it was at the event, or its id alone. */
export const payloadSchema = z.enum(['full', 'thin']);
export type Payload = z.output<typeof payloadSchema>;

/** The kind of signature: with a shared secret (`v1`), or with a private key (`v1a`). */
export const signatureKindSchema = z.enum(['hmac', 'ed25519']);
export type SignatureKind = z.output<typeof signatureKindSchema>;

/** The reason why an endpoint is disabled. */
const disabledReasonSchema = z.enum([
  'by_request',
  /** No success for days. */
  'failing',
  /** It answered 410. */
  'gone',
  /** It asked for it with the header `webhook-delivery: disable`. */
  'by_receiver',
]);
export type DisabledReason = z.output<typeof disabledReasonSchema>;

/**
 * The endpoint's own headers. Their values often are credentials, so they are sealed like the
 * signing secret; the names alone stay readable.
 */
const sealedHeadersSchema = z.object({ names: z.array(z.string()), sealed: sealedSchema });
export type SealedHeaders = z.output<typeof sealedHeadersSchema>;

/** A message that an endpoint did not take in all its attempts. */
export const exhaustedSchema = z.object({
  message_id: z.string(),
  event_type: z.string(),
  resource_id: z.string(),
  attempts: z.number().int(),
  /** Of the last attempt: the status of the answer, or why there was none. */
  status_code: z.number().int().nullable(),
  error: z.string().nullable(),
});
export type ExhaustedMessage = z.output<typeof exhaustedSchema>;

const settingsShape = {
  url: z.string(),
  description: z.string().nullable(),
  /** Null: every type. */
  event_types: z.array(z.string()).nullable(),
  order_mode: orderModeSchema,
  /** Null: later events of a resource wait without limit. */
  order_guard_seconds: z.number().int().nullable(),
  max_in_flight: z.number().int(),
  /** Deliveries per second; null: as many as it takes. */
  rate_limit_per_second: z.number().int().nullable(),
  payload: payloadSchema,
  headers: sealedHeadersSchema.nullable(),
  metadata: metadataSchema,
} as const;

const events = {
  WebhookEndpointCreated: z.object({
    id: z.string(),
    ...settingsShape,
    enabled: z.boolean(),
    signature: signatureKindSchema,
    secret: sealedSchema,
  }),
  /** Only what changed, with its new value. */
  WebhookEndpointChanged: z.object(settingsShape).partial(),
  WebhookEndpointEnabled: z.object({}),
  WebhookEndpointDisabled: z.object({ reason: disabledReasonSchema }),
  /** From now on signs with another secret, and with the former one too until an instant. */
  WebhookEndpointSecretRotated: z.object({
    secret: sealedSchema,
    signature: signatureKindSchema,
    former_until: instantSchema,
  }),
  /** Deliveries were given up. `report` is their place in the worker's list, which rises. */
  WebhookMessagesExhausted: z.object({ report: z.string(), messages: z.array(exhaustedSchema) }),
  WebhookEndpointDeleted: z.object({}),
};
/** An event of an endpoint. */
export type EndpointEvent = EventOf<typeof events>;
export type RotatedData = z.output<typeof events.WebhookEndpointSecretRotated>;

/** The settings that a caller may choose and change. */
export type EndpointSettings = Readonly<z.output<z.ZodObject<typeof settingsShape>>>;

/** A secret that still signs although another one has taken its place. */
export interface FormerSecret {
  readonly secret: Sealed;
  readonly until: Instant;
}

/** An endpoint as its events make it. */
export interface Endpoint extends EndpointSettings, RecordStamps {
  readonly id: string;
  readonly status: 'published' | 'deleted';
  readonly enabled: boolean;
  readonly disabled_reason: DisabledReason | null;
  readonly disabled_at: Instant | null;
  /**
   * The time since which it has been enabled: anything learnt about its health before does not
   * count.
   */
  readonly enabled_at: Instant;
  readonly signature: SignatureKind;
  readonly secret: Sealed;
  /** The latest first. */
  readonly former_secrets: readonly FormerSecret[];
  /** The last report of given up deliveries that is in the log; null before the first. */
  readonly last_report: string | null;
}

/** Secrets that sign beside the current one at most. */
const formerSecretsMaximum = 5;

/** Null until the endpoint has been created. */
export type EndpointState = Endpoint | null;

/**
 * Returns the purpose of a sealed text of an endpoint, so that it opens for nothing else (see
 * sealing.ts).
 */
export const sealingContext = (endpointId: string, what: 'secret' | 'headers'): string =>
  `webhook_endpoint/${endpointId}/${what}`;

function created({
  data,
  stamp,
}: Stamped<Extract<EndpointEvent, { type: 'WebhookEndpointCreated' }>>): Endpoint {
  return {
    ...data,
    ...createdStamps(stamp),
    status: 'published',
    disabled_reason: data.enabled ? null : 'by_request',
    disabled_at: data.enabled ? null : stamp.occurred_at,
    enabled_at: stamp.occurred_at,
    former_secrets: [],
    last_report: null,
  };
}

/** The secrets after a rotation. Those whose time is over are dropped. */
function rotated(
  { secret: current, former_secrets }: Endpoint,
  { secret, signature, former_until }: RotatedData,
  at: Instant,
): Pick<Endpoint, 'secret' | 'signature' | 'former_secrets'> {
  const former = [{ secret: current, until: former_until }, ...former_secrets];
  return {
    secret,
    signature,
    former_secrets: former.filter(({ until }) => until > at).slice(0, formerSecretsMaximum),
  };
}

function evolve(state: EndpointState, event: Stamped<EndpointEvent>): EndpointState {
  if (event.type === 'WebhookEndpointCreated') return created(event);
  if (state === null) return state;
  // A report says something about deliveries; the endpoint itself is as it was.
  if (event.type === 'WebhookMessagesExhausted') {
    return { ...state, last_report: event.data.report };
  }
  const stamped = { ...state, ...updatedStamps(event.stamp) };
  switch (event.type) {
    case 'WebhookEndpointChanged':
      return withChanges(stamped, event.data);
    case 'WebhookEndpointEnabled':
      return {
        ...stamped,
        enabled: true,
        disabled_reason: null,
        disabled_at: null,
        enabled_at: event.stamp.occurred_at,
      };
    case 'WebhookEndpointDisabled':
      return {
        ...stamped,
        enabled: false,
        disabled_reason: event.data.reason,
        disabled_at: event.stamp.occurred_at,
      };
    case 'WebhookEndpointSecretRotated':
      return { ...stamped, ...rotated(state, event.data, event.stamp.occurred_at) };
    case 'WebhookEndpointDeleted':
      return { ...stamped, enabled: false, status: 'deleted' };
    default:
      return event satisfies never;
  }
}

/** A target of webhook deliveries with its filter, its order and its signing secret. */
export const webhookEndpoint = aggregate({
  name: 'webhook_endpoint',
  scope: 'environment',
  clock: 'system',
  events,
  initial: null as EndpointState,
  evolve,
});

/** A decision about an endpoint. */
export type EndpointDecision = Decision<EndpointState, EndpointEvent>;

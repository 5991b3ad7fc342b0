import {
  aggregate,
  type Changes,
  changedFields,
  createdStamps,
  type Decision,
  type EventOf,
  isEmpty,
  type Metadata,
  metadataSchema,
  Problem,
  type RecordStamps,
  type Stamped,
  updatedStamps,
  withChanges,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type Sealed, sealedSchema } from './sealing.ts';

/**
 * How deliveries of one endpoint follow each other: events of one resource one after the other,
 * or all as fast as they go.
 */
export const orderModeSchema = z.enum(['resource_fifo', 'unordered']);
export type OrderMode = z.output<typeof orderModeSchema>;

/** Why an endpoint is disabled. */
const disabledReasonSchema = z.enum(['by_request']);
export type DisabledReason = z.output<typeof disabledReasonSchema>;

/**
 * The endpoint's own headers. Their values often are credentials, so they are sealed like the
 * signing secret; the names alone stay readable.
 */
const sealedHeadersSchema = z.object({ names: z.array(z.string()), sealed: sealedSchema });
export type SealedHeaders = z.output<typeof sealedHeadersSchema>;

const settingsShape = {
  url: z.string(),
  description: z.string().nullable(),
  /** Null: every type. */
  event_types: z.array(z.string()).nullable(),
  order_mode: orderModeSchema,
  /** Null: later events of a resource wait without limit. */
  order_guard_seconds: z.number().int().nullable(),
  max_in_flight: z.number().int(),
  headers: sealedHeadersSchema.nullable(),
  metadata: metadataSchema,
} as const;

const events = {
  WebhookEndpointCreated: z.object({
    id: z.string(),
    ...settingsShape,
    enabled: z.boolean(),
    secret: sealedSchema,
  }),
  /** Only what changed, with its new value. */
  WebhookEndpointChanged: z.object(settingsShape).partial(),
  WebhookEndpointEnabled: z.object({}),
  WebhookEndpointDisabled: z.object({ reason: disabledReasonSchema }),
  WebhookEndpointDeleted: z.object({}),
};
export type EndpointEvent = EventOf<typeof events>;

/** What a caller may set and change. */
export interface EndpointSettings {
  readonly url: string;
  readonly description: string | null;
  readonly event_types: readonly string[] | null;
  readonly order_mode: OrderMode;
  readonly order_guard_seconds: number | null;
  readonly max_in_flight: number;
  readonly headers: SealedHeaders | null;
  readonly metadata: Metadata;
}

export interface Endpoint extends EndpointSettings, RecordStamps {
  readonly id: string;
  readonly status: 'published' | 'deleted';
  readonly enabled: boolean;
  readonly disabled_reason: DisabledReason | null;
  readonly secret: Sealed;
}

/** Null until the endpoint has been created. */
export type EndpointState = Endpoint | null;

/** What a sealed text of an endpoint is, so that it opens for nothing else (see sealing.ts). */
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
  };
}

function evolve(state: EndpointState, event: Stamped<EndpointEvent>): EndpointState {
  if (event.type === 'WebhookEndpointCreated') return created(event);
  if (state === null) return state;
  const stamped = { ...state, ...updatedStamps(event.stamp) };
  switch (event.type) {
    case 'WebhookEndpointChanged':
      return withChanges(stamped, event.data);
    case 'WebhookEndpointEnabled':
      return { ...stamped, enabled: true, disabled_reason: null };
    case 'WebhookEndpointDisabled':
      return { ...stamped, enabled: false, disabled_reason: event.data.reason };
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
  events,
  initial: null as EndpointState,
  evolve,
});

export type EndpointDecision = Decision<EndpointState, EndpointEvent>;

/** The endpoint, if it exists and has not been deleted; else 404. */
export const requireEndpoint = (state: EndpointState, id: string): Endpoint =>
  writable(state, 'webhook endpoint', id);

export interface NewEndpoint extends EndpointSettings {
  readonly id: string;
  readonly enabled: boolean;
  readonly secret: Sealed;
}

type CreatedData = Extract<EndpointEvent, { type: 'WebhookEndpointCreated' }>['data'];
type ChangedData = Extract<EndpointEvent, { type: 'WebhookEndpointChanged' }>['data'];

/** Creates an endpoint. 409 when the id is taken. */
export const createEndpoint =
  (endpoint: NewEndpoint): EndpointDecision =>
  (state) => {
    if (state !== null) {
      throw new Problem('already_exists', `There is already a webhook endpoint ${endpoint.id}.`);
    }
    return [{ type: 'WebhookEndpointCreated', data: { ...endpoint } as CreatedData }];
  };

/** What a change asks for; members that are absent stay as they are. */
export type EndpointChange = Changes<EndpointSettings> & { readonly enabled?: boolean | undefined };

/**
 * Changes settings, and enables or disables when `enabled` says otherwise than it is. No event
 * when everything already is as asked. Two sealed texts always differ, so the caller brings the
 * comparison of headers.
 */
export const changeEndpoint =
  (
    id: string,
    { enabled, ...settings }: EndpointChange,
    isSameHeaders: (current: SealedHeaders | null) => boolean,
  ): EndpointDecision =>
  (state, at) => {
    const endpoint = requireEndpoint(state, id);
    const headers = isSameHeaders(endpoint.headers) ? endpoint.headers : settings.headers;
    const changed = changedFields<EndpointSettings>(endpoint, { ...settings, headers });
    const settingEvents: EndpointEvent[] = isEmpty(changed)
      ? []
      : [{ type: 'WebhookEndpointChanged', data: changed as ChangedData }];
    if (enabled === undefined) return settingEvents;
    const switching = enabled ? enableEndpoint(id) : disableEndpoint(id, 'by_request');
    return [...settingEvents, ...switching(state, at)];
  };

/** Lets deliveries go out again. No event when it is enabled. */
export const enableEndpoint =
  (id: string): EndpointDecision =>
  (state) =>
    requireEndpoint(state, id).enabled ? [] : [{ type: 'WebhookEndpointEnabled', data: {} }];

/** Stops deliveries. No event when it is disabled. */
export const disableEndpoint =
  (id: string, reason: DisabledReason): EndpointDecision =>
  (state) =>
    requireEndpoint(state, id).enabled
      ? [{ type: 'WebhookEndpointDisabled', data: { reason } }]
      : [];

/** Ends the endpoint for good: what has not been delivered is cancelled. */
export const deleteEndpoint =
  (id: string): EndpointDecision =>
  (state) => {
    requireEndpoint(state, id);
    return [{ type: 'WebhookEndpointDeleted', data: {} }];
  };

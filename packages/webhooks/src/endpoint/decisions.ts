import type { RequestContext } from '@counterfoil/engine/define';
import {
  type Changes,
  changedFields,
  instantOf,
  invalidOperation,
  isEmpty,
  millisecondsOf,
  Problem,
  writable,
} from '@counterfoil/kernel';
import {
  type DisabledReason,
  type Endpoint,
  type EndpointDecision,
  type EndpointEvent,
  type EndpointSettings,
  type EndpointState,
  type ExhaustedMessage,
  type SealedHeaders,
  type SignatureKind,
  webhookEndpoint,
} from './endpoint.ts';
import type { Sealed } from './sealing.ts';

const coolDownMs = 60_000;

/** The endpoint, if it exists and has not been deleted; else 404. */
export const requireEndpoint = (state: EndpointState, id: string): Endpoint =>
  writable(state, 'webhook endpoint', id);

/** The endpoint as the log has it, never behind; 404 when there is none. */
export const loadEndpoint = async (context: RequestContext, id: string): Promise<Endpoint> =>
  requireEndpoint(await context.load(webhookEndpoint, id), id);

/** The data of a new endpoint. */
export type NewEndpoint = Extract<EndpointEvent, { type: 'WebhookEndpointCreated' }>['data'];

/** Creates an endpoint. 409 when the id is taken. */
export const createEndpoint =
  (endpoint: NewEndpoint): EndpointDecision =>
  (state) => {
    if (state !== null) {
      throw new Problem('already_exists', `There is already a webhook endpoint ${endpoint.id}.`);
    }
    return [{ type: 'WebhookEndpointCreated', data: endpoint }];
  };

/** A change of an endpoint; members that are absent stay as they are. */
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
      : [{ type: 'WebhookEndpointChanged', data: changed }];
    if (enabled === undefined) return settingEvents;
    const switching = enabled ? enableEndpoint(id) : disableEndpoint(id, 'by_request');
    return [...settingEvents, ...switching(state, at)];
  };

/**
 * Lets deliveries go out again. No event when it is enabled. An endpoint that the service has
 * disabled stays so for a minute: a program that answers each disabling by enabling would make a
 * loop of it.
 */
export const enableEndpoint =
  (id: string): EndpointDecision =>
  (state, at) => {
    const { enabled, disabled_at, disabled_reason } = requireEndpoint(state, id);
    if (enabled) return [];
    const since = disabled_at === null ? 0 : millisecondsOf(at) - millisecondsOf(disabled_at);
    if (disabled_reason !== 'by_request' && since < coolDownMs) {
      throw invalidOperation(
        'The service disabled this endpoint less than a minute ago. Enable it a minute later.',
        { reason: 'too_soon' },
      );
    }
    return [{ type: 'WebhookEndpointEnabled', data: {} }];
  };

/** Stops deliveries. No event when it is disabled. */
export const disableEndpoint =
  (id: string, reason: DisabledReason): EndpointDecision =>
  (state) =>
    requireEndpoint(state, id).enabled
      ? [{ type: 'WebhookEndpointDisabled', data: { reason } }]
      : [];

/** Ends the endpoint for good: deliveries that are not finished are cancelled. */
export const deleteEndpoint =
  (id: string): EndpointDecision =>
  (state) => {
    requireEndpoint(state, id);
    return [{ type: 'WebhookEndpointDeleted', data: {} }];
  };

/** A new signing secret, and the grace period of the one before. */
export interface Rotation {
  readonly secret: Sealed;
  readonly signature: SignatureKind;
  /** Seconds for which the former secret signs too. */
  readonly graceSeconds: number;
}

/** Puts another secret in the place of the current one. */
export const rotateSecret =
  (id: string, { secret, signature, graceSeconds }: Rotation): EndpointDecision =>
  (state, at) => {
    requireEndpoint(state, id);
    const former_until = instantOf(millisecondsOf(at) + graceSeconds * 1_000);
    return [{ type: 'WebhookEndpointSecretRotated', data: { secret, signature, former_until } }];
  };

/**
 * Reports deliveries that were given up. No event when the log already has this report, which
 * happens when the worker ended before it could cross it off its list.
 */
export const reportExhausted =
  (id: string, report: string, messages: readonly ExhaustedMessage[]): EndpointDecision =>
  (state) => {
    const { last_report } = requireEndpoint(state, id);
    if (last_report !== null && BigInt(report) <= BigInt(last_report)) return [];
    return [{ type: 'WebhookMessagesExhausted', data: { report, messages: [...messages] } }];
  };

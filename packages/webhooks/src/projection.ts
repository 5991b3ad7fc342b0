import { projection, type RecordedEvent, recordProjection } from '@counterfoil/engine/define';
import { existing } from '@counterfoil/kernel';
import {
  type Endpoint,
  type EndpointEvent,
  type EndpointState,
  webhookEndpoint,
} from './endpoint/endpoint.ts';
import { endpointResource } from './endpoint/schema.ts';
import { requestedTask } from './task/schema.ts';
import { webhookTask } from './task/task.ts';

/** An endpoint, and the place in the log from which on it receives events. */
export interface EndpointRow {
  readonly endpoint: Endpoint;
  /** Position of the event that created it. Earlier events are not delivered to it. */
  readonly created_position: string;
}

function fold(row: EndpointRow | null, event: RecordedEvent<EndpointEvent>): EndpointRow | null {
  const state: EndpointState = row?.endpoint ?? webhookEndpoint.initial;
  const endpoint = webhookEndpoint.evolve(state, event);
  return endpoint && { endpoint, created_position: row?.created_position ?? event.position };
}

/**
 * The endpoints. The delivery worker reads this table as well: its state holds the sealed secret
 * and headers, which the resource does not show. A deleted endpoint stays, as deleted.
 */
export const endpointTable = projection(webhookEndpoint, {
  name: 'webhook_endpoints',
  version: 2,
  keys: (event: RecordedEvent<EndpointEvent>) => [event.aggregate_id],
  fold,
  view: (row: EndpointRow) => endpointResource(row.endpoint),
  columns: {
    enabled: { type: 'boolean', of: (endpoint) => endpoint.enabled },
    url: { type: 'text', of: (endpoint) => endpoint.url },
    max_in_flight: { type: 'integer', of: (endpoint) => endpoint.max_in_flight },
    rate_limit: { type: 'integer', of: (endpoint) => endpoint.rate_limit_per_second },
    enabled_at: { type: 'timestamptz', of: (_, row) => row.endpoint.enabled_at },
  },
});

/** The tasks of the worker, which takes them from here. */
export const taskTable = recordProjection(webhookTask, {
  name: 'webhook_tasks',
  version: 1,
  view: (state) => requestedTask(existing(state, 'webhook task')),
  columns: {
    endpoint_id: { type: 'text', of: (task) => task.endpoint_id, index: true },
    is_cancelled: { type: 'boolean', of: (task) => task.is_cancelled },
  },
});

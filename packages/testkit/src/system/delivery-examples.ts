import type { Example } from './example.ts';
import type { Records } from './records.ts';

const withId = (make: (own: Records) => Promise<string>): Example['request'] => {
  return async (own) => ({ path: { id: await make(own) } });
};

const nothing: Example['request'] = () => ({});

const endpoint: Example = {
  request: withId((own) => own.endpoint()),
  names: { 'path.id': 'webhook_endpoint' },
};

const message: Example = {
  request: withId((own) => own.message()),
  names: { 'path.id': 'webhook_message' },
};

const task: Example = {
  request: withId((own) => own.webhookTask()),
  names: { 'path.id': 'webhook_task' },
};

const webhooks: Readonly<Record<string, Example>> = {
  'POST /webhooks/endpoints': {
    request: (own) => ({ body: { url: `https://example.com/${own.text('hook')}` } }),
  },
  'GET /webhooks/endpoints': { request: nothing },
  'GET /webhooks/endpoints/{id}': endpoint,
  'PUT /webhooks/endpoints/{id}': {
    ...endpoint,
    request: async (own) => ({
      path: { id: await own.endpoint() },
      body: { description: own.text('hook') },
    }),
  },
  'PATCH /webhooks/endpoints/{id}': {
    ...endpoint,
    request: async (own) => ({
      path: { id: await own.endpoint() },
      body: { description: own.text('hook') },
    }),
  },
  'DELETE /webhooks/endpoints/{id}': endpoint,
  'POST /webhooks/endpoints/{id}/secret/rotate': endpoint,
  'GET /webhooks/endpoints/{id}/attempts': endpoint,
  'GET /webhooks/endpoints/{id}/stats': endpoint,
  'POST /webhooks/endpoints/{id}/test': {
    ...endpoint,
    request: withId((own) => own.enabledEndpoint()),
  },
  'POST /webhooks/endpoints/{id}/recover': {
    ...endpoint,
    request: async (own) => ({
      path: { id: await own.enabledEndpoint() },
      body: { since: '2026-01-01T00:00:00Z' },
    }),
  },
  'GET /webhooks/messages': {
    request: nothing,
    filters: { 'query.resource_id': 'customer', 'query.endpoint_id': 'webhook_endpoint' },
  },
  'GET /webhooks/messages/{id}': message,
  'GET /webhooks/messages/{id}/attempts': message,
  'POST /webhooks/messages/{id}/endpoints/{endpoint_id}/resend': {
    request: async (own) => ({
      path: { id: await own.message(), endpoint_id: await own.enabledEndpoint() },
    }),
    names: { 'path.id': 'webhook_message', 'path.endpoint_id': 'webhook_endpoint' },
  },
  'GET /webhooks/tasks': {
    request: nothing,
    filters: { 'query.endpoint_id': 'webhook_endpoint' },
  },
  'GET /webhooks/tasks/{id}': task,
  'POST /webhooks/tasks/{id}/cancel': task,
  'POST /webhooks/endpoints/{id}/enable': endpoint,
  'POST /webhooks/endpoints/{id}/disable': endpoint,
  'GET /webhooks/endpoints/{id}/secret': endpoint,
};

const subscription: Example = {
  request: withId((own) => own.subscription()),
  names: { 'path.id': 'event_subscription' },
};

const events: Readonly<Record<string, Example>> = {
  'GET /events': { request: nothing },
  'POST /events/subscriptions': { request: (own) => ({ body: { name: own.text('reader') } }) },
  'GET /events/subscriptions': { request: nothing },
  'GET /events/subscriptions/{id}': subscription,
  'POST /events/subscriptions/{id}/replay': subscription,
  'DELETE /events/subscriptions/{id}': subscription,
  'POST /events/subscriptions/{id}/credentials': subscription,
  'DELETE /events/subscriptions/{id}/credentials': {
    ...subscription,
    request: withId((own) => own.subscriptionWithCredentials()),
  },
  'GET /event-types': { request: nothing },
  'GET /event-types/{event_type}/schema': {
    request: () => ({ path: { event_type: 'customer.created' } }),
    texts: ['path.event_type'],
  },
};

/** Examples of the operations that tell others what happens. */
export const deliveryExamples: Readonly<Record<string, Example>> = { ...webhooks, ...events };

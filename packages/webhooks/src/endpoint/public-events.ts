import { publicEvents } from '@counterfoil/engine/define';
import { existing } from '@counterfoil/kernel';
import { z } from 'zod';
import { exhaustedSchema, webhookEndpoint } from './endpoint.ts';
import { endpointResource, endpointSchema } from './schema.ts';

/**
 * Events about webhooks themselves, for those who watch over an integration: an endpoint that asks
 * for them by name gets them, and so does every subscriber of NATS.
 */
export const endpointPublicEvents = publicEvents(
  webhookEndpoint,
  ({ event, after }) => {
    const endpoint = existing(after, 'webhook endpoint');
    switch (event.type) {
      case 'WebhookEndpointDisabled':
        return [
          {
            type: 'endpoint.disabled',
            resourceId: endpoint.id,
            body: { endpoint: endpointResource(endpoint) },
          },
        ];
      case 'WebhookMessagesExhausted':
        return event.data.messages.map(({ message_id: id, ...message }) => ({
          type: 'message.exhausted',
          resourceId: id,
          body: {
            message: { id, ...message },
            endpoint: { id: endpoint.id, url: endpoint.url },
          },
        }));
      case 'WebhookEndpointCreated':
      case 'WebhookEndpointChanged':
      case 'WebhookEndpointEnabled':
      case 'WebhookEndpointSecretRotated':
      case 'WebhookEndpointDeleted':
        return [];
      default:
        return event satisfies never;
    }
  },
  {
    'endpoint.disabled': {
      summary: 'A webhook endpoint is disabled, by request or because it kept failing',
      body: z.object({ endpoint: endpointSchema }),
    },
    'message.exhausted': {
      summary: 'A delivery is given up after its last attempt',
      kind: 'entry',
      body: z.object({
        message: exhaustedSchema
          .omit({ message_id: true })
          .extend({ id: z.string() })
          .meta({ id: 'ExhaustedWebhookMessage' }),
        endpoint: endpointSchema.pick({ id: true, url: true }),
      }),
    },
  },
);

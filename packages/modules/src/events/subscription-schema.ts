import { type EventGateway, publicStream } from '@counterfoil/engine/define';
import {
  instantSchema,
  invariant,
  recordStampsShape,
  recordStatusSchema,
  requiredTextSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { positionSchema } from './schema.ts';
import { accessOf, type Subscription, type SubscriptionCredentials } from './subscription.ts';

const startShape = {
  after_position: positionSchema.optional().meta({ description: 'Events after this position' }),
  start_time: instantSchema.optional().meta({ description: 'Events published from then on' }),
  from: z
    .enum(['now', 'oldest'])
    .optional()
    .meta({ description: 'The next event, or the oldest that is kept' }),
} as const;

const oneStart = {
  atMostOneOf: ['after_position', 'start_time', 'from'],
  says: 'give at most one of after_position, start_time and from',
} as const;

export const createSubscriptionSchema = withConditions(
  z.object({
    name: requiredTextSchema(128).meta({ example: 'warehouse' }),
    resource: z
      .string()
      .regex(/^[a-z][a-z_]{0,31}$/, 'must be the first word of an event type, such as "wallet"')
      .nullable()
      .optional()
      .meta({ description: 'First word of the types wanted; absent: all' }),
    max_unconfirmed: z
      .number()
      .int()
      .min(1)
      .max(1000)
      .default(1000)
      .meta({ description: 'Messages on their way unconfirmed; 1 keeps strict order' }),
    ...startShape,
  }),
  [oneStart],
).meta({ id: 'CreateEventSubscription' });
export type CreateSubscription = z.output<typeof createSubscriptionSchema>;

export const replaySubscriptionSchema = withConditions(z.object(startShape), [oneStart]).meta({
  id: 'ReplayEventSubscription',
});
export type StartRequest = z.output<typeof replaySubscriptionSchema>;

/** The way to reach a subscription on NATS. */
const connectionSchema = z.object({
  stream: z.string(),
  consumer: z.string().meta({ description: 'Durable pull consumer; acknowledge each message' }),
});

const credentialsShape = {
  generation: z.number().int().meta({ description: 'Earlier ones are void' }),
  issued_at: instantSchema,
  expires_at: instantSchema.optional(),
} as const;

export const subscriptionSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    name: z.string(),
    resource: z.string().optional(),
    max_unconfirmed: z.number().int(),
    generation: z.number().int(),
    nats: connectionSchema,
    credentials: z
      .object(credentialsShape)
      .optional()
      .meta({ description: 'Credentials in force, if any' }),
  })
  .meta({ id: 'EventSubscription' });
export type SubscriptionResource = z.output<typeof subscriptionSchema>;

export const subscriptionStatusSchema = subscriptionSchema
  .extend({
    delivery: z
      .object({
        pending: z.number().int().meta({ description: 'Events that it has not been given yet' }),
        unconfirmed: z.number().int().meta({ description: 'Given and not acknowledged' }),
      })
      .optional()
      .meta({ description: 'What NATS says; absent while it cannot be asked' }),
  })
  .meta({ id: 'EventSubscriptionStatus' });

export const issueCredentialsSchema = z
  .object({
    expires_at: instantSchema
      .optional()
      .meta({ description: 'When NATS stops accepting them; never when absent' }),
  })
  .meta({ id: 'IssueEventSubscriptionCredentials' });

export const issuedCredentialsSchema = connectionSchema
  .extend({
    ...credentialsShape,
    urls: z.array(z.string()).meta({
      description: 'Where they are accepted',
      example: ['nats://events.example.com:4222'],
    }),
    live_subject: z.string().meta({
      description: 'Events as they happen, at most once',
    }),
    credentials: z.string().meta({
      description: 'Content of a .creds file for NATS clients. Shown here only.',
    }),
  })
  .meta({ id: 'NatsCredentials' });
export type IssuedCredentials = z.output<typeof issuedCredentialsSchema>;

/** Without what is not there. */
const shownCredentials = ({ generation, issued_at, expires_at }: SubscriptionCredentials) => ({
  generation,
  issued_at,
  ...(expires_at === null ? {} : { expires_at }),
});

/** New credentials as the API shows them, once. Throws `BrokenInvariant` when there are none. */
export function credentialsView(
  subscription: Subscription,
  gateway: EventGateway,
): IssuedCredentials {
  const { credentials } = subscription;
  const access = accessOf(subscription);
  invariant(credentials && access, `${subscription.id} has no credentials`);
  return {
    ...connectionOf(subscription),
    ...shownCredentials(credentials),
    urls: [...gateway.urls],
    live_subject: gateway.liveSubject(access),
    credentials: gateway.credentialsOf(access),
  };
}

const connectionOf = ({ id }: Subscription) => ({ stream: publicStream, consumer: id });

/** The subscription as the API shows it. */
export function subscriptionView(subscription: Subscription): SubscriptionResource {
  const {
    start: _start,
    credentials_generation: _generation,
    credentials,
    unconfirmed_maximum,
    resource,
    ...shown
  } = subscription;
  return {
    ...shown,
    ...(resource === null ? {} : { resource }),
    max_unconfirmed: unconfirmed_maximum,
    nats: connectionOf(subscription),
    ...(credentials ? { credentials: shownCredentials(credentials) } : {}),
  };
}

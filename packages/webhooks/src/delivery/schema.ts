import { pageShape } from '@counterfoil/engine/define';
import { instantSchema, referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';

/** The state of a delivery. */
export const deliveryStateSchema = z.enum([
  'pending',
  'waiting',
  'sending',
  'delivered',
  'exhausted',
  'skipped',
  'cancelled',
]);

/** The trigger of a delivery. */
const triggerSchema = z.enum(['scheduled', 'recovery', 'resend', 'test']);

const deliverySchema = z
  .object({
    endpoint_id: z.string(),
    state: deliveryStateSchema,
    trigger: triggerSchema,
    attempts: z.number().int(),
    next_attempt_at: instantSchema.nullable(),
    finished_at: instantSchema.nullable(),
  })
  .meta({ id: 'MessageDelivery' });

/** A message with its deliveries, as the API shows it. */
export const messageSchema = z
  .object({
    id: z.string(),
    tenant_id: z.string(),
    environment_id: z.string(),
    event_type: z.string(),
    resource_id: z.string(),
    occurred_at: instantSchema,
    created_at: instantSchema,
    deliveries: z.array(deliverySchema),
  })
  .meta({ id: 'WebhookMessage' });
export type MessageResource = z.output<typeof messageSchema>;

/** A message with its body. */
export const wholeMessageSchema = z
  .object({
    ...messageSchema.shape,
    body: z.unknown().meta({ description: 'What is delivered, also when it was too long for it' }),
  })
  .meta({ id: 'WholeWebhookMessage' });

const periodShape = {
  start_time: instantSchema.optional(),
  end_time: instantSchema.optional(),
} as const;

/** The filters of a list of messages. */
export const messageListSchema = z.object({
  ...pageShape,
  ...periodShape,
  event_type: z.string().max(64).optional(),
  resource_id: z.string().max(64).optional(),
  endpoint_id: referenceSchema('webhook').optional(),
  state: deliveryStateSchema.optional(),
});
export type MessageFilter = z.output<typeof messageListSchema>;

const reference = z.string().min(1).max(64);

/** The path of a message. */
export const messagePathSchema = z.object({
  id: reference.meta({ example: 'evt_0000000000000_0' }),
});

/** The path of a message and one of its endpoints. */
export const resendPathSchema = z.object({
  ...messagePathSchema.shape,
  endpoint_id: referenceSchema('webhook'),
});

/** An attempt, as the API shows it. */
export const attemptSchema = z
  .object({
    message_id: z.string(),
    endpoint_id: z.string(),
    attempt: z.number().int(),
    trigger: triggerSchema,
    outcome: z.enum(['answer', 'failure', 'lost']).meta({
      description: 'answer: see status_code; failure: see error; lost: nobody knows',
    }),
    status_code: z.number().int().nullable(),
    error: z.string().nullable(),
    detail: z.string().meta({ description: 'The beginning of the answer, or what went wrong' }),
    milliseconds: z.number().int().nullable(),
    address: z.string().nullable().meta({
      description: 'The address that it was sent to; null when there was no connection',
    }),
    attempted_at: instantSchema,
  })
  .meta({ id: 'WebhookAttempt' });
export type AttemptResource = z.output<typeof attemptSchema>;

/** The period and the page of a list of attempts. */
export const attemptListSchema = z.object({ ...pageShape, ...periodShape });
export type AttemptFilter = z.output<typeof attemptListSchema>;

/** The period of the figures. */
export const statsQuerySchema = z.object({
  since: instantSchema.optional().meta({ description: 'Left out: 24 hours before until' }),
  until: instantSchema.optional().meta({ description: 'Left out: now' }),
});

/** The figures of an endpoint over a period, and the state of its breaker now. */
export const statsSchema = z
  .object({
    endpoint_id: z.string(),
    since: instantSchema,
    until: instantSchema,
    deliveries: z.partialRecord(deliveryStateSchema, z.number().int()),
    attempts: z.number().int(),
    successes: z.number().int().meta({ description: 'Attempts that were answered with 2xx' }),
    answer_milliseconds: z.object({
      p50: z.number().int().nullable(),
      p95: z.number().int().nullable(),
    }),
    oldest_due_at: instantSchema.nullable(),
    breaker: z.object({
      state: z.enum(['closed', 'open', 'half_open']),
      failures_in_row: z.number().int(),
      failing_since: instantSchema.nullable(),
      next_probe_at: instantSchema.nullable(),
      last_success_at: instantSchema.nullable(),
    }),
  })
  .meta({ id: 'WebhookEndpointStats' });
export type Stats = z.output<typeof statsSchema>;

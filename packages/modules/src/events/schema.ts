import { pageShape } from '@counterfoil/engine/define';
import { z } from 'zod';

/** An id, which is one word of the subject of a message. */
const recordIdSchema = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the id of a record');

export const positionSchema = z
  .string()
  .regex(/^\d{1,19}$/, 'must be a position such as "1042"')
  .meta({ example: '1042' });

/**
 * Returns the query of `GET /feed`. A type that nothing publishes is refused: a reader would wait for
 * it for ever.
 */
export const feedQuerySchema = (types: ReadonlySet<string>) =>
  z.object({
    after_position: positionSchema.optional().meta({
      description: 'Events after this position; from the oldest that are kept when absent',
    }),
    limit: pageShape.limit.meta({
      description: 'Events wanted, or a few more: those of one change come together',
    }),
    event_type: z.enum(typesAndPrefixes(types)).optional().meta({
      description: 'Events of this type, or of all types with a prefix such as `wallet.*`',
    }),
    resource_id: recordIdSchema.optional().meta({ description: 'Events about this record' }),
    customer_id: recordIdSchema.optional().meta({
      description:
        'Events about this customer or its records. A page looks through 1,000, so it may have few or none while `has_more` is true',
    }),
  });

export type FeedQuery = z.output<ReturnType<typeof feedQuerySchema>>;

/** Returns every type, and every prefix of several words or one, such as `wallet.*`. */
function typesAndPrefixes(types: ReadonlySet<string>): string[] {
  const prefixes = [...types].flatMap((type) => {
    const words = type.split('.');
    return words.slice(1).map((_, place) => `${words.slice(0, place + 1).join('.')}.*`);
  });
  return [...new Set([...types, ...prefixes])].sort();
}

/** A public event, as polling clients get it. */
export const feedEventSchema = z
  .object({
    id: z.string().meta({ description: 'The same on NATS and in webhooks' }),
    event_type: z.string(),
    resource_id: z.string(),
    occurred_at: z.string(),
    position: positionSchema,
    revision: z.number().int().meta({ description: 'Counts the events of the record from 0' }),
    data: z
      .record(z.string(), z.unknown())
      .meta({ description: 'What a webhook carries; see the schema of the event type' }),
  })
  .meta({ id: 'PublicEvent' });

export const feedPageSchema = z
  .object({
    items: z.array(feedEventSchema),
    next_position: positionSchema.meta({ description: 'For `after_position` of the next request' }),
    has_more: z.boolean(),
  })
  .meta({ id: 'PublicEventFeed' });

export const eventTypeSchema = z
  .object({
    event_type: z.string().meta({ example: 'customer.created' }),
    summary: z.string(),
    kind: z.enum(['state', 'entry']).meta({
      description:
        '`state`: of the events of a record the one with the greatest sequence shows it as it is. ' +
        '`entry`: each event counts for itself',
    }),
    schema_url: z.string().meta({ description: 'JSON Schema of the body, relative to the host' }),
  })
  .meta({ id: 'EventType' });

export const eventTypeListSchema = z
  .object({ items: z.array(eventTypeSchema) })
  .meta({ id: 'EventTypes' });

/** A JSON Schema (2020-12); its members are not ours to describe. */
export const jsonSchemaSchema = z.record(z.string(), z.unknown()).meta({ id: 'JsonSchema' });

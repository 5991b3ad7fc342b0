import { pageShape } from '@counterfoil/engine/define';
import { instantSchema, requiredTextSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { listKeySchema } from './list-place.ts';

/** The limits of a usage event (D55). */
export const usageLimits = {
  text: 255,
  properties: 100,
  propertiesBytes: 32 * 1024,
  bulk: 1_000,
  bulkBytes: 32 * 1024 * 1024,
  /** A bulk of events with all the properties that they may have has 110,000 values; some hold lists. */
  bulkContents: { values: 1_000_000, longNumbers: 100_000 },
} as const;

/** Null means the same as absent. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

const propertiesSchema = z
  .record(z.string().max(usageLimits.text), z.unknown())
  .refine(
    (properties) => Object.keys(properties).length <= usageLimits.properties,
    `must have at most ${usageLimits.properties} members`,
  )
  .refine(
    (properties) => Buffer.byteLength(JSON.stringify(properties)) <= usageLimits.propertiesBytes,
    `must have at most ${usageLimits.propertiesBytes} bytes`,
  )
  .meta({ maxProperties: usageLimits.properties });

const name = requiredTextSchema(usageLimits.text);

/** Body of POST /events, and an item of a bulk. */
export const ingestedEventSchema = z
  .object({
    event_name: name,
    external_customer_id: name,
    customer_id: optional(name),
    event_id: optional(name).meta({
      description:
        'Unique in the environment for ever; made when absent. The same again counts once',
    }),
    timestamp: optional(instantSchema).meta({
      description: 'When it was used; its arrival when absent. At most an hour ahead',
    }),
    source: optional(name),
    properties: optional(propertiesSchema),
  })
  .meta({ id: 'IngestedEvent' });
export type IngestedEvent = z.output<typeof ingestedEventSchema>;

/** Body of POST /events/bulk. */
export const ingestedBulkSchema = z
  .object({ events: z.array(ingestedEventSchema).min(1).max(usageLimits.bulk) })
  .meta({ id: 'IngestedEvents' });

/** Answer of POST /events. */
export const ingestionSchema = z
  .object({ message: z.string(), event_id: z.string() })
  .meta({ id: 'Ingestion' });

/** Answer of POST /events/bulk. */
export const bulkIngestionSchema = z
  .object({
    message: z.string(),
    accepted: z.number().int().meta({ description: 'Events recorded by this request' }),
    repeated: z
      .number()
      .int()
      .meta({ description: 'Events that were there already, and count once' }),
    conflicts: z.array(z.object({ index: z.number().int(), event_id: z.string() })).meta({
      description: 'Events whose id is that of another one with other contents; not recorded',
    }),
  })
  .meta({ id: 'BulkIngestion' });

/** A usage event on the wire. */
export const usageEventSchema = z
  .object({
    id: z.string(),
    event_name: z.string(),
    external_customer_id: z.string(),
    customer_id: z
      .string()
      .nullable()
      .meta({ description: 'Null while no customer has the external id' }),
    environment_id: z.string(),
    timestamp: z.string(),
    source: z.string(),
    properties: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'UsageEvent' });
export type UsageEventResource = z.output<typeof usageEventSchema>;

const filterShape = {
  event_name: name.optional(),
  external_customer_id: name.optional(),
  iter_last_key: listKeySchema.optional(),
} as const;

/** Query of GET /events. */
export const eventsQuerySchema = z.object({ ...filterShape, page_size: pageShape.limit });

/** Values of which an event must have one, by property; all of them must match. */
export const propertyFiltersSchema = z
  .record(
    z.string().max(usageLimits.text),
    z.array(z.string().max(usageLimits.text)).min(1).max(100),
  )
  .refine((filters) => Object.keys(filters).length <= 50, 'must have at most 50 members');

/** The member of a question about a customer that asks for its children as well. */
export const includeChildrenSchema = z
  .boolean()
  .optional()
  .meta({ description: 'With the customers whose parent it is, as if they were one' });

/** Body of POST /events/query. */
export const queryEventsSchema = z
  .object({
    ...filterShape,
    event_id: name.optional(),
    source: name.optional(),
    start_time: instantSchema.optional(),
    end_time: instantSchema.optional(),
    page_size: z.number().int().min(1).max(1_000).default(50),
    order: z.enum(['asc', 'desc']).default('desc'),
    property_filters: propertyFiltersSchema
      .optional()
      .meta({ description: 'For every property, its values of which an event has one' }),
  })
  .meta({ id: 'UsageEventQuery' });
export type EventsQuery = z.output<typeof queryEventsSchema>;

/** The months that a list says nothing of, though usage of them counts. */
export const droppedMonthsSchema = z.array(z.string()).readonly().optional().meta({
  description: 'Months (`2026-11`) of which some events are counted, and no longer kept one by one',
});

/** A page of usage events. */
export const usageEventsSchema = z
  .object({
    events: z.array(usageEventSchema),
    has_more: z.boolean(),
    iter_first_key: z.string().optional(),
    iter_last_key: z.string().optional(),
    dropped_months: droppedMonthsSchema,
  })
  .meta({ id: 'UsageEvents' });

import { pageShape } from '@counterfoil/engine/define';
import {
  instantSchema,
  referenceSchema,
  requiredTextSchema,
  textSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { aggregationTypeSchema, meterSchema } from '../../meters/index.ts';
import { ingestedBulkSchema, usageLimits } from '../schema.ts';
import { backfillStates } from './backfill.ts';
import { backfillLimits } from './limits.ts';
import { refusals } from './tables.ts';

const name = requiredTextSchema(usageLimits.text);
const count = z.number().int();
const statusSchema = z.enum(backfillStates);

/** Path of all routes of one backfill. */
export const backfillParameters = z.object({ id: referenceSchema('backfill') });

/** Body of POST /events/backfills. */
export const openBackfillSchema = z
  .object({
    source: name,
    start_time: instantSchema.meta({ description: 'Of the first timestamps, inclusive' }),
    end_time: instantSchema.meta({ description: 'Of the last timestamps, exclusive' }),
    description: textSchema(1024).nullish(),
  })
  .refine(({ start_time, end_time }) => start_time < end_time, {
    path: ['end_time'],
    message: 'must be after start_time',
  })
  .meta({ id: 'OpenBackfill' });

/** A backfill on the wire. */
export const backfillSchema = z
  .object({
    id: referenceSchema('backfill'),
    source: z.string(),
    start_time: instantSchema,
    end_time: instantSchema,
    description: z.string().nullable(),
    backfill_status: statusSchema,
    opened_at: instantSchema,
    ended_at: instantSchema.nullable().meta({ description: 'When it was closed or reverted' }),
    waiting: count.meta({ description: 'Events that wait to be counted' }),
    counted: count.nullable().meta({
      description: 'Events that count since it is closed; null until it is and the tables show it',
    }),
    repeated: count.meta({
      description:
        'Events that were there already, and count once. Live ones are told at the closing',
    }),
    refused: count.meta({ description: 'Events that do not count, and are listed' }),
  })
  .meta({ id: 'Backfill' });
export type BackfillResource = z.output<typeof backfillSchema>;

/** Query of GET /events/backfills. */
export const backfillsQuerySchema = z.object({
  ...pageShape,
  backfill_status: statusSchema.optional(),
});

/** Body of POST /events/backfills/{id}/events. */
export const fillBackfillSchema = ingestedBulkSchema;

/** Answer of POST /events/backfills/{id}/events. */
export const filledBackfillSchema = z
  .object({
    message: z.string(),
    accepted: count.meta({ description: 'Events recorded by this request' }),
    repeated: count.meta({ description: 'Events that wait already' }),
    conflicts: z.array(z.object({ index: count, event_id: z.string() })).meta({
      description: 'Events whose id waits with other contents; not recorded',
    }),
  })
  .meta({ id: 'FilledBackfill' });

const keyPattern = /^\d{1,18}\.\d{1,9}$/;

/** Query of GET /events/backfills/{id}/events. */
export const backfillEventsQuerySchema = z.object({
  state: z.enum(['waiting', 'refused']).default('waiting').meta({
    description: 'Those that wait to be counted, or those that are not counted',
  }),
  page_size: pageShape.limit,
  iter_last_key: z
    .string()
    .max(64)
    .regex(keyPattern, 'must be the iter_last_key of a page')
    .meta({ example: '48213.0' })
    .optional(),
});
export type BackfillEventsQuery = z.output<typeof backfillEventsQuerySchema>;

const backfillEventSchema = z
  .object({
    event_id: z.string(),
    timestamp: z.string(),
    event_name: z.string().optional(),
    external_customer_id: z.string().optional(),
    properties: z.record(z.string(), z.unknown()).optional(),
    reason: z
      .enum(refusals)
      .optional()
      .meta({
        description:
          'conflict: another event has the id; not_open: it came after the end; limit_reached: ' +
          `${backfillLimits.events.toLocaleString('en-US')} waited already`,
      }),
  })
  .meta({ id: 'BackfillEvent' });
export type BackfillEventResource = z.output<typeof backfillEventSchema>;

/** Answer of GET /events/backfills/{id}/events. */
export const backfillEventsSchema = z
  .object({
    events: z.array(backfillEventSchema),
    has_more: z.boolean(),
    iter_last_key: z.string().optional(),
  })
  .meta({ id: 'BackfillEvents' });
export type BackfillEvents = z.output<typeof backfillEventsSchema>;

/** Query of GET /events/backfills/{id}/preview. */
export const previewQuerySchema = z.object({
  limit: pageShape.limit
    .refine((limit) => limit <= backfillLimits.previewed, 'is more than a page can have')
    .meta({ maximum: backfillLimits.previewed }),
  offset: pageShape.offset,
});
export type PreviewQuery = z.output<typeof previewQuerySchema>;

const figureSchema = z
  .object({
    meter_id: meterSchema.shape.id,
    meter_name: z.string(),
    type: aggregationTypeSchema,
    feature_ids: z.array(z.string()).meta({ description: 'Features that the meter measures' }),
    before: z.string().nullable().meta({ description: 'Over the span, as things are' }),
    after: z.string().nullable().meta({ description: 'Over the span, once it is closed' }),
  })
  .meta({ id: 'BackfillFigure' });

/** Answer of GET /events/backfills/{id}/preview. */
export const previewSchema = z
  .object({
    backfill_id: referenceSchema('backfill'),
    position: z.string().meta({ description: 'Everything in the log up to here is looked at' }),
    counted: count.meta({ description: 'Events that would count' }),
    repeated: count.meta({ description: 'Events that are there already' }),
    conflicts: count.meta({ description: 'Events whose id is there with other contents' }),
    items: z.array(
      z
        .object({
          external_customer_id: z.string(),
          customer_id: z.string().nullable().meta({ description: 'Null while there is none' }),
          event_name: z.string(),
          events: count.meta({ description: 'Those that would count' }),
          figures: z.array(figureSchema).meta({ description: 'One for each meter of the name' }),
        })
        .meta({ id: 'BackfillPreviewItem' }),
    ),
    pagination: z
      .object({ limit: count, offset: count, total: count })
      .meta({ description: 'Of customers and names' }),
  })
  .meta({ id: 'BackfillPreview' });
export type BackfillPreview = z.output<typeof previewSchema>;

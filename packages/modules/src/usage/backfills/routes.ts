import {
  newText,
  pageSchema,
  type RequestContext,
  type Routes,
  refuseBeyond,
  route,
} from '@counterfoil/engine/define';
import type { Id } from '@counterfoil/kernel';
import { usageLimits } from '../schema.ts';
import {
  type Backfill,
  closeBackfill,
  existingBackfill,
  openBackfill,
  revertBackfill,
  usageBackfill,
} from './backfill.ts';
import { fillBackfill } from './fill.ts';
import { backfillLimits } from './limits.ts';
import { previewOf } from './preview.ts';
import {
  type BackfillRow,
  countOfBackfills,
  type ListedEvent,
  listedBackfills,
  listedEvents,
  shownBackfill,
} from './queries.ts';
import {
  type BackfillEventResource,
  type BackfillEvents,
  type BackfillEventsQuery,
  type BackfillResource,
  backfillEventsQuerySchema,
  backfillEventsSchema,
  backfillParameters,
  backfillSchema,
  backfillsQuerySchema,
  fillBackfillSchema,
  filledBackfillSchema,
  openBackfillSchema,
  previewQuerySchema,
  previewSchema,
} from './schema.ts';

const tag = 'Usage';
const reading = { tag, status: 200, permission: 'event:read' } as const;
const ending = {
  tag,
  status: 200,
  permission: 'event:write',
  params: backfillParameters,
  response: backfillSchema,
} as const;

/** The routes of backfills (D52). */
export const backfillRoutes = {
  'POST /events/backfills': route({
    summary: 'Open a backfill',
    description:
      'For usage of a source and a span that was not sent in its time: it waits, and counts at once when the backfill is closed.',
    operationId: 'openBackfill',
    tag,
    status: 201,
    permission: 'event:write',
    body: openBackfillSchema,
    response: backfillSchema,
    example: {
      body: {
        source: newText('gateway'),
        start_time: '2026-05-01T00:00:00.000Z',
        end_time: '2026-06-01T00:00:00.000Z',
      },
      makes: 'backfill',
    },
    handle: async (context, { body }) => {
      const { description = null, ...terms } = body;
      const id = context.newId('backfill');
      const { state } = await context.execute(usageBackfill, id, {
        prepare: async () => {
          refuseBeyond(openQuota, await countOfBackfills(context, { status: 'open' }));
          return openBackfill({ ...terms, description });
        },
      });
      return resourceOf(id, existingBackfill(id, state), null);
    },
  }),

  'GET /events/backfills': route({
    ...reading,
    summary: 'List backfills',
    description: 'Newest first.',
    operationId: 'listBackfills',
    query: backfillsQuerySchema,
    response: pageSchema(backfillSchema),
    handle: async (context, { query }) => {
      const { limit, offset, backfill_status: status } = query;
      const rows = await listedBackfills(context, { status, limit, offset });
      const total = await countOfBackfills(context, { status });
      const items = rows.map((row) => resourceOf(row.id as Id<'backfill'>, stateOf(row), row));
      return { items, pagination: { limit, offset, total } };
    },
  }),

  'GET /events/backfills/{id}': route({
    ...reading,
    summary: 'Get a backfill',
    operationId: 'getBackfill',
    params: backfillParameters,
    response: backfillSchema,
    handle: async (context, { params: { id } }) =>
      withFigures(context, id, await backfillWith(context, id)),
  }),

  'POST /events/backfills/{id}/events': route({
    summary: 'Fill a backfill',
    description:
      'With events of its span; their source is that of the backfill. Answered when they are durable. In any order, and as often as ' +
      'it takes: the same event again waits once.',
    operationId: 'fillBackfill',
    tag,
    status: 202,
    permission: 'event:write',
    bodyLimitBytes: usageLimits.bulkBytes,
    bodyContents: usageLimits.bulkContents,
    params: backfillParameters,
    body: fillBackfillSchema,
    response: filledBackfillSchema,
    example: {
      body: {
        events: [
          {
            event_name: 'tokens',
            external_customer_id: 'acme',
            event_id: newText('event'),
            timestamp: '2026-05-01T12:00:00.000Z',
            properties: { model: 'large', count: 1200 },
          },
        ],
      },
      texts: ['external_customer_id', 'customer_id', 'event_id'].map((name) => `events.0.${name}`),
    },
    handle: async (context, { params: { id }, body }) => {
      const backfill = await backfillWith(context, id);
      const { accepted, repeated, conflicts } = await fillBackfill(
        context,
        id,
        backfill,
        body.events,
      );
      return { message: 'Recorded.', accepted, repeated, conflicts: [...conflicts] };
    },
  }),

  'GET /events/backfills/{id}/events': route({
    ...reading,
    summary: 'List the events of a backfill',
    description:
      'Those that wait, or those that do not count, with the reason, in the order of the log. What counts is listed with all usage.',
    operationId: 'listBackfillEvents',
    params: backfillParameters,
    query: backfillEventsQuerySchema,
    response: backfillEventsSchema,
    handle: async (context, { params: { id }, query }) => {
      await backfillWith(context, id);
      return eventsPage(query, await listedEvents(context, id, query));
    },
  }),

  'GET /events/backfills/{id}/preview': route({
    ...reading,
    summary: 'Preview a backfill',
    description:
      'The figures of its span before and after its closing, by customer, event name and meter. Nothing is changed.',
    operationId: 'previewBackfill',
    params: backfillParameters,
    query: previewQuerySchema,
    response: previewSchema,
    handle: async (context, { params: { id }, query }) =>
      previewOf(context, id, await backfillWith(context, id), query),
  }),

  'POST /events/backfills/{id}/close': route({
    ...ending,
    summary: 'Close a backfill',
    description:
      'All of its events that are in the log count at once, as if they came now. For good. A second closing changes nothing.',
    operationId: 'closeBackfill',
    handle: async (context, { params: { id } }) => {
      const { state } = await context.execute(usageBackfill, id, closeBackfill(id));
      return await withFigures(context, id, existingBackfill(id, state));
    },
  }),

  'POST /events/backfills/{id}/revert': route({
    ...ending,
    summary: 'Revert a backfill',
    description:
      'Before it is closed. None of its events ever counts, and their ids are free again.',
    operationId: 'revertBackfill',
    handle: async (context, { params: { id } }) => {
      const { state } = await context.execute(usageBackfill, id, revertBackfill(id));
      return await withFigures(context, id, existingBackfill(id, state));
    },
  }),
} satisfies Routes;

const openQuota = {
  most: backfillLimits.open,
  noun: 'open backfills in this environment',
  remedy: 'Close or revert one first.',
};

const backfillWith = async (context: RequestContext, id: Id<'backfill'>): Promise<Backfill> =>
  existingBackfill(id, await context.load(usageBackfill, id));

const withFigures = async (
  context: RequestContext,
  id: Id<'backfill'>,
  backfill: Backfill,
): Promise<BackfillResource> => resourceOf(id, backfill, await shownBackfill(context, id));

/** The log says how a backfill stands, the tables what has become of its events. */
const resourceOf = (
  id: Id<'backfill'>,
  { source, start_time, end_time, description, status, opened_at, ended_at }: Backfill,
  row: BackfillRow | null,
): BackfillResource => ({
  ...{ id, source, start_time, end_time, description, opened_at, ended_at },
  backfill_status: status,
  waiting: row?.waiting ?? 0,
  counted: row && row.status !== 'open' ? row.counted : null,
  repeated: row?.repeated ?? 0,
  refused: row?.refused ?? 0,
});

const stateOf = (row: BackfillRow): Backfill => ({
  source: row.source,
  start_time: row.start_time as Backfill['start_time'],
  end_time: row.end_time as Backfill['end_time'],
  description: row.description,
  status: row.status,
  opened_at: row.opened_at as Backfill['opened_at'],
  ended_at: row.ended_at as Backfill['ended_at'],
});

function eventsPage(
  { page_size }: BackfillEventsQuery,
  rows: readonly ListedEvent[],
): BackfillEvents {
  const shown = rows.slice(0, page_size);
  const last = shown.at(-1);
  return {
    events: shown.map(eventView),
    has_more: rows.length > shown.length,
    ...(last ? { iter_last_key: `${last.position}.${last.number}` } : {}),
  };
}

const eventView = (row: ListedEvent): BackfillEventResource => ({
  event_id: row.event_id,
  timestamp: row.at,
  ...(row.name === null ? {} : { event_name: row.name }),
  ...(row.external_id === null ? {} : { external_customer_id: row.external_id }),
  ...(row.properties === null ? {} : { properties: JSON.parse(row.properties) }),
  ...(row.reason === null ? {} : { reason: row.reason }),
});

import type { Page, RequestContext, Selects } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { type Expression, type SqlBool, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import {
  attemptTable,
  bodyText,
  deliveryTable,
  healthTable,
  messageTable,
  taskRunTable,
} from '../queue/schema.ts';
import { noProgress, type TaskProgress } from '../task/schema.ts';
import type {
  AttemptFilter,
  AttemptResource,
  MessageFilter,
  MessageResource,
  Stats,
} from './schema.ts';

type Reads = Pick<RequestContext, 'read'>;

/** A message as it lies in the queue's tables. */
export interface StoredMessage {
  readonly resource: MessageResource;
  /** The bytes that are delivered, as text. */
  readonly body: string;
  /** The record's stream in the log, and the revision of the event. */
  readonly stream: string;
  readonly revision: number;
}

/** A condition on a value of a request, left out when the request has none. */
const when = <Value>(
  value: Value | undefined,
  condition: (value: Value) => Expression<SqlBool>,
): readonly Expression<SqlBool>[] => (value === undefined ? [] : [condition(value)]);

const isoText = (instant: Expression<string | null>) =>
  sql<Instant | null>`to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Deliveries of a message that are shown: endpoints of an environment are bounded, resends not. */
const deliveriesMaximum = 500;

const messageTables = [messageTable, deliveryTable] as const;

/** The messages of the caller's environment with their deliveries. */
const messages = (from: Selects<(typeof messageTables)[number]>) =>
  from.selectFrom('webhook_messages as message').select(({ selectFrom }) => [
    'message.event_id as id',
    'message.tenant_id',
    'message.environment_id',
    'message.event_type',
    'message.resource_id',
    sql.ref<Instant>('message.occurred_at').as('occurred_at'),
    sql.ref<Instant>('message.created_at').as('created_at'),
    jsonArrayFrom(
      selectFrom('webhook_deliveries as delivery')
        .select(({ ref }) => [
          'delivery.endpoint_id',
          'delivery.state',
          'delivery.trigger',
          'delivery.attempt as attempts',
          sql`case when delivery.state in ('pending', 'waiting') and delivery.next_at < 'infinity'
                then ${isoText(ref('delivery.next_at'))} end`.as('next_attempt_at'),
          isoText(ref('delivery.finished_at')).as('finished_at'),
        ])
        .whereRef('delivery.event_id', '=', 'message.event_id')
        .orderBy('delivery.id')
        .limit(deliveriesMaximum),
    )
      .$castTo<string>()
      .as('deliveries'),
  ]);

type MessageRow = Omit<MessageResource, 'deliveries'> & { readonly deliveries: string };

const messageOf = ({ deliveries, ...row }: MessageRow): MessageResource => ({
  ...row,
  deliveries: JSON.parse(deliveries) as MessageResource['deliveries'],
});

/** Reads the messages of the caller's environment, the latest first. */
export async function listMessages({ read }: Reads, filter: MessageFilter) {
  const { limit, offset, endpoint_id, state } = filter;
  const matching = (from: Selects<(typeof messageTables)[number]>) =>
    messages(from).where((message) => {
      const delivered = message
        .selectFrom('webhook_deliveries as own')
        .select('own.id')
        .whereRef('own.event_id', '=', 'message.event_id')
        .where((own) =>
          own.and([
            ...when(endpoint_id, (id) => own('own.endpoint_id', '=', id)),
            ...when(state, (wanted) => own('own.state', '=', wanted)),
          ]),
        );
      return message.and([
        ...when(filter.event_type, (type) => message('message.event_type', '=', type)),
        ...when(filter.resource_id, (id) => message('message.resource_id', '=', id)),
        ...when(filter.start_time, (start) => message('message.occurred_at', '>=', start)),
        ...when(filter.end_time, (end) => message('message.occurred_at', '<=', end)),
        ...when(endpoint_id ?? state, () => message.exists(delivered)),
      ]);
    });
  const [counted] = await read.query(messageTables, (from) =>
    matching(from)
      .clearSelect()
      .select(({ fn }) => fn.countAll<string>().as('total'))
      .limit(1),
  );
  const rows = await read.query(messageTables, (from) =>
    matching(from).orderBy('message.event_id', 'desc').limit(limit).offset(offset),
  );
  return pageOf(rows.map(messageOf), filter, counted);
}

const pageOf = <Item>(
  items: Item[],
  { limit, offset }: Pick<MessageFilter, 'limit' | 'offset'>,
  counted: { readonly total: string } | undefined,
): Page<Item> => ({ items, pagination: { limit, offset, total: Number(counted?.total ?? 0) } });

/** Reads one message with its body; null when it was never stored, or is no longer kept. */
export async function findMessage({ read }: Reads, id: string): Promise<StoredMessage | null> {
  const [row] = await read.query(messageTables, (from) =>
    messages(from)
      .select([bodyText.as('body'), 'message.stream', 'message.revision'])
      .where('message.event_id', '=', id)
      .limit(1),
  );
  if (!row) return null;
  const { body, stream, revision, ...message } = row;
  return { resource: messageOf(message), body, stream, revision: Number(revision) };
}

const attemptTables = [attemptTable, deliveryTable] as const;

/** Reads attempts of one endpoint or about one message, the latest first. */
export async function listAttempts(
  { read }: Reads,
  of: { readonly kind: 'endpoint' | 'message'; readonly id: string },
  filter: AttemptFilter,
): Promise<Page<AttemptResource>> {
  const matching = (from: Selects<(typeof attemptTables)[number]>) =>
    from.selectFrom('webhook_attempts as attempt').where((attempt) => {
      // Through the deliveries of a message, which have an index for that; attempts have none.
      const deliveries = attempt
        .selectFrom('webhook_deliveries as delivery')
        .select('delivery.id')
        .where('delivery.event_id', '=', of.id);
      return attempt.and([
        of.kind === 'endpoint'
          ? attempt('attempt.endpoint_id', '=', of.id)
          : attempt('attempt.delivery_id', 'in', deliveries),
        ...when(filter.start_time, (start) => attempt('attempt.recorded_at', '>=', start)),
        ...when(filter.end_time, (end) => attempt('attempt.recorded_at', '<=', end)),
      ]);
    });
  const [counted] = await read.query(attemptTables, (from) =>
    matching(from)
      .select(({ fn }) => fn.countAll<string>().as('total'))
      .limit(1),
  );
  const items = await read.query(attemptTables, (from) =>
    matching(from)
      .select([
        'event_id as message_id',
        'endpoint_id',
        'attempt',
        'trigger',
        'outcome',
        'status_code',
        'reason as error',
        'detail',
        'milliseconds',
        'address',
        sql.ref<Instant>('recorded_at').as('attempted_at'),
      ])
      .orderBy('recorded_at', 'desc')
      .orderBy('delivery_id', 'desc')
      .orderBy('attempt', 'desc')
      .limit(filter.limit)
      .offset(filter.offset),
  );
  return pageOf([...items], filter, counted);
}

/** The states of a delivery are as many as this. */
const statesMaximum = 7;

/** Reads how an endpoint did in a period, and how it is doing now. */
export async function endpointStats(
  { read }: Reads,
  endpointId: string,
  period: { readonly since: Instant; readonly until: Instant },
): Promise<Stats> {
  const states = await read.query([deliveryTable], (from) =>
    from
      .selectFrom('webhook_deliveries')
      .select(({ fn }) => ['state', fn.countAll<string>().as('count')])
      .where('endpoint_id', '=', endpointId)
      .where(({ between }) => between('created_at', period.since, period.until))
      .groupBy('state')
      .limit(statesMaximum),
  );
  const [figures] = await read.query([attemptTable], (from) =>
    from
      .selectFrom('webhook_attempts')
      .select(({ between, fn }) => [
        fn.countAll<string>().as('attempts'),
        fn
          .countAll<string>()
          .filterWhere(between('status_code', 200, 299))
          .as('successes'),
        quantile(0.5).as('p50'),
        quantile(0.95).as('p95'),
      ])
      .where('endpoint_id', '=', endpointId)
      .where(({ between }) => between('recorded_at', period.since, period.until))
      .limit(1),
  );
  const [due] = await read.query([deliveryTable], (from) =>
    from
      .selectFrom('webhook_deliveries')
      .select(sql<Instant | null>`min(next_at)`.as('at'))
      .where('endpoint_id', '=', endpointId)
      .where('state', '=', 'pending')
      .where(({ between }) => between('next_at', sql.lit('epoch'), sql<string>`now()`))
      .limit(1),
  );
  const [breaker = wellBreaker] = await read.query([healthTable], (from) =>
    from
      .selectFrom('webhook_health')
      .select([
        'state',
        'failures_in_row',
        sql.ref<Instant | null>('failing_since').as('failing_since'),
        sql.ref<Instant | null>('next_probe_at').as('next_probe_at'),
        sql.ref<Instant | null>('last_success_at').as('last_success_at'),
      ])
      .where('endpoint_id', '=', endpointId)
      .limit(1),
  );
  return {
    endpoint_id: endpointId,
    ...period,
    deliveries: Object.fromEntries(states.map(({ state, count }) => [state, Number(count)])),
    attempts: Number(figures?.attempts ?? 0),
    successes: Number(figures?.successes ?? 0),
    answer_milliseconds: { p50: figures?.p50 ?? null, p95: figures?.p95 ?? null },
    oldest_due_at: due?.at ?? null,
    breaker,
  };
}

const quantile = (share: number) =>
  sql<number | null>`percentile_disc(${sql.lit(share)}) within group (order by milliseconds)`;

/** The breaker of an endpoint that has never failed. */
const wellBreaker: Stats['breaker'] = {
  state: 'closed',
  failures_in_row: 0,
  failing_since: null,
  next_probe_at: null,
  last_success_at: null,
};

/** Reads the progress of tasks, by id. Those that the worker has not begun are queued. */
export async function taskProgress(
  { read }: Reads,
  ids: readonly string[],
): Promise<(id: string) => TaskProgress> {
  if (ids.length === 0) return () => noProgress;
  const rows = await read.query([taskRunTable], (from) =>
    from
      .selectFrom('webhook_task_runs')
      .select([
        'task_id',
        'state',
        'examined',
        'queued',
        'message_id',
        'detail',
        sql.ref<Instant | null>('finished_at').as('finished_at'),
      ])
      .where('task_id', 'in', ids)
      .limit(ids.length),
  );
  const known = new Map(
    rows.map(({ task_id, examined, queued, ...run }) => [
      task_id,
      { ...run, examined: Number(examined), queued: Number(queued) },
    ]),
  );
  return (id) => known.get(id) ?? noProgress;
}

import type { OperationalReads, Page, RequestContext } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { noProgress, type TaskProgress } from '../task/schema.ts';
import type {
  AttemptFilter,
  AttemptResource,
  MessageFilter,
  MessageResource,
  Stats,
} from './schema.ts';

type Caller = Pick<RequestContext, 'principal'>;

/** A message as it lies in the queue's tables. */
export interface StoredMessage {
  readonly resource: MessageResource;
  /** The bytes that are delivered, as text. */
  readonly body: string;
  /** The record's stream in the log, and the revision of the event. */
  readonly stream: string;
  readonly revision: number;
}

const isoText = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Deliveries of a message that are shown: endpoints of an environment are bounded, resends not. */
const deliveriesMaximum = 500;

const messageColumns = `
  message.event_id as id, message.tenant_id, message.environment_id, message.event_type,
  message.resource_id, message.occurred_at, message.created_at,
  coalesce((select json_agg(json_build_object(
      'endpoint_id', delivery.endpoint_id, 'state', delivery.state,
      'trigger', delivery.trigger, 'attempts', delivery.attempt,
      'next_attempt_at', case when delivery.state in ('pending', 'waiting')
        and delivery.next_at < 'infinity' then ${isoText('delivery.next_at')} end,
      'finished_at', ${isoText('delivery.finished_at')}) order by delivery.id)
    from (select * from counterfoil.webhook_deliveries
           where event_id = message.event_id order by id limit ${deliveriesMaximum}) delivery
  ), '[]') as deliveries`;

type MessageRow = Omit<MessageResource, 'deliveries'> & { readonly deliveries: string };

const messageOf = ({ deliveries, ...row }: MessageRow): MessageResource => ({
  ...row,
  deliveries: JSON.parse(deliveries) as MessageResource['deliveries'],
});

/** A filter that is left out lets everything pass. */
const messageConditions = `
  message.environment_id = $1
  and ($2::text is null or message.event_type = $2)
  and ($3::text is null or message.resource_id = $3)
  and ($4::timestamptz is null or message.occurred_at >= $4)
  and ($5::timestamptz is null or message.occurred_at <= $5)
  and (($6::text is null and $7::text is null) or exists (
    select from counterfoil.webhook_deliveries delivery
     where delivery.event_id = message.event_id
       and ($6::text is null or delivery.endpoint_id = $6)
       and ($7::text is null or delivery.state = $7)))`;

/** The messages of the caller's environment, the latest first. */
export async function listMessages(
  reads: OperationalReads,
  { principal }: Caller,
  filter: MessageFilter,
): Promise<Page<MessageResource>> {
  const { limit, offset } = filter;
  const values = [
    principal.environmentId,
    filter.event_type ?? null,
    filter.resource_id ?? null,
    filter.start_time ?? null,
    filter.end_time ?? null,
    filter.endpoint_id ?? null,
    filter.state ?? null,
  ];
  const [counted] = await reads.query<{ total: string }>(
    principal,
    `select count(*) as total from counterfoil.webhook_messages message where ${messageConditions}`,
    values,
  );
  const rows = await reads.query<MessageRow>(
    principal,
    `select ${messageColumns} from counterfoil.webhook_messages message
      where ${messageConditions} order by message.event_id desc limit $8 offset $9`,
    [...values, limit, offset],
  );
  return {
    items: rows.map(messageOf),
    pagination: { limit, offset, total: Number(counted?.total ?? 0) },
  };
}

/** One message with its body; null when it was never stored, or is no longer kept. */
export async function findMessage(
  reads: OperationalReads,
  { principal }: Caller,
  id: string,
): Promise<StoredMessage | null> {
  const [row] = await reads.query<
    MessageRow & { readonly body: string; readonly stream: string; readonly revision: string }
  >(
    principal,
    `select ${messageColumns}, convert_from(message.body, 'UTF8') as body, message.stream,
            message.revision
       from counterfoil.webhook_messages message
      where message.environment_id = $1 and message.event_id = $2`,
    [principal.environmentId, id],
  );
  if (!row) return null;
  const { body, stream, revision, ...message } = row;
  return { resource: messageOf(message), body, stream, revision: Number(revision) };
}

/** Attempts of one endpoint or about one message, the latest first. */
export async function listAttempts(
  reads: OperationalReads,
  { principal }: Caller,
  of: { readonly kind: 'endpoint' | 'message'; readonly id: string },
  { limit, offset, start_time, end_time }: AttemptFilter,
): Promise<Page<AttemptResource>> {
  // Through the deliveries of a message, which have an index for that; attempts have none.
  const about = {
    endpoint: 'endpoint_id = $2',
    message: 'delivery_id in (select id from counterfoil.webhook_deliveries where event_id = $2)',
  }[of.kind];
  const where = `environment_id = $1 and ${about}
    and ($3::timestamptz is null or recorded_at >= $3)
    and ($4::timestamptz is null or recorded_at <= $4)`;
  const values = [principal.environmentId, of.id, start_time ?? null, end_time ?? null];
  const [counted] = await reads.query<{ total: string }>(
    principal,
    `select count(*) as total from counterfoil.webhook_attempts where ${where}`,
    values,
  );
  const items = await reads.query<AttemptResource>(
    principal,
    `select event_id as message_id, endpoint_id, attempt, trigger, outcome, status_code,
            reason as error, detail, milliseconds, address, recorded_at as attempted_at
       from counterfoil.webhook_attempts where ${where}
      order by recorded_at desc, delivery_id desc, attempt desc limit $5 offset $6`,
    [...values, limit, offset],
  );
  return {
    items: [...items],
    pagination: { limit, offset, total: Number(counted?.total ?? 0) },
  };
}

interface AttemptFigures {
  readonly attempts: string;
  readonly successes: string;
  readonly p50: number | null;
  readonly p95: number | null;
}

interface HealthRow {
  readonly state: Stats['breaker']['state'];
  readonly failures_in_row: number;
  readonly failing_since: Instant | null;
  readonly next_probe_at: Instant | null;
  readonly last_success_at: Instant | null;
}

const wellBreaker: HealthRow = {
  state: 'closed',
  failures_in_row: 0,
  failing_since: null,
  next_probe_at: null,
  last_success_at: null,
};

/** Reads the figures of an endpoint for a period, and its present state. */
export async function endpointStats(
  reads: OperationalReads,
  { principal }: Caller,
  endpointId: string,
  period: { readonly since: Instant; readonly until: Instant },
): Promise<Stats> {
  const { environmentId } = principal;
  const values = [environmentId, endpointId, period.since, period.until];
  const states = await reads.query<{ state: keyof Stats['deliveries']; count: string }>(
    principal,
    `select state, count(*) as count from counterfoil.webhook_deliveries
      where environment_id = $1 and endpoint_id = $2 and created_at between $3 and $4
      group by state`,
    values,
  );
  const [figures] = await reads.query<AttemptFigures>(
    principal,
    `select count(*) as attempts,
            count(*) filter (where status_code between 200 and 299) as successes,
            percentile_disc(0.5) within group (order by milliseconds) as p50,
            percentile_disc(0.95) within group (order by milliseconds) as p95
       from counterfoil.webhook_attempts
      where environment_id = $1 and endpoint_id = $2 and recorded_at between $3 and $4`,
    values,
  );
  const [due] = await reads.query<{ at: Instant | null }>(
    principal,
    `select min(next_at) as at from counterfoil.webhook_deliveries
      where environment_id = $1 and endpoint_id = $2 and state = 'pending'
        and next_at between 'epoch' and now()`,
    [environmentId, endpointId],
  );
  const [health] = await reads.query<HealthRow>(
    principal,
    `select state, failures_in_row, failing_since, next_probe_at, last_success_at
       from counterfoil.webhook_health where environment_id = $1 and endpoint_id = $2`,
    [environmentId, endpointId],
  );
  return {
    endpoint_id: endpointId,
    ...period,
    deliveries: Object.fromEntries(
      states.map(({ state, count }) => [state, Number(count)]),
    ) as Stats['deliveries'],
    attempts: Number(figures?.attempts ?? 0),
    successes: Number(figures?.successes ?? 0),
    answer_milliseconds: { p50: figures?.p50 ?? null, p95: figures?.p95 ?? null },
    oldest_due_at: due?.at ?? null,
    breaker: health ?? wellBreaker,
  };
}

type RunRow = Omit<TaskProgress, 'examined' | 'queued'> & {
  readonly task_id: string;
  readonly examined: string;
  readonly queued: string;
};

/** Reads how far tasks have come, by id. Those that the worker has not begun are queued. */
export async function taskProgress(
  reads: OperationalReads,
  { principal }: Caller,
  ids: readonly string[],
): Promise<(id: string) => TaskProgress> {
  if (ids.length === 0) return () => noProgress;
  const rows = await reads.query<RunRow>(
    principal,
    `select task_id, state, examined, queued, message_id, detail, finished_at
       from counterfoil.webhook_task_runs where environment_id = $1 and task_id = any($2)`,
    [principal.environmentId, ids],
  );
  const known = new Map(
    rows.map(({ task_id, examined, queued, ...run }) => [
      task_id,
      { ...run, examined: Number(examined), queued: Number(queued) },
    ]),
  );
  return (id) => known.get(id) ?? noProgress;
}

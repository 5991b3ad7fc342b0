import type { Connection, PublicMessage } from '@counterfoil/engine';
import type { OpenGroup, OrderedGroup, PlannedDelivery } from './fan-out-plan.ts';

/** The place up to which the public stream has been turned into deliveries. */
export interface ReadPosition {
  /** Sequence of the last message in the broker's stream; 0 before the first. */
  readonly sequence: number;
  /** The position of that message's event in the log, by which the stream is recognised. */
  readonly position: bigint;
  readonly index: number;
}

/** Another worker has moved the position that only the holder of the lock may move. */
export class PositionMoved extends Error {
  constructor() {
    super('Another worker has read on from the same position of the public stream.');
    this.name = 'PositionMoved';
  }
}

interface StoredPosition {
  readonly sequence: string;
  readonly position: string;
  readonly message_index: number;
}

export async function readPosition(connection: Connection): Promise<ReadPosition> {
  const { rows } = await connection.query<StoredPosition>(
    'select sequence, position, message_index from counterfoil.webhook_position',
  );
  const [row] = rows;
  if (!row) throw new Error('The table webhook_position is empty; it must have its one row.');
  return {
    sequence: Number(row.sequence),
    position: BigInt(row.position),
    index: row.message_index,
  };
}

/** Moves the position on. Throws `PositionMoved` unless it is where this worker left it. */
export async function movePosition(
  connection: Connection,
  from: ReadPosition,
  to: ReadPosition,
): Promise<void> {
  const { count } = await connection.query(
    `update counterfoil.webhook_position
        set sequence = $4, position = $5, message_index = $6, updated_at = now()
      where sequence = $1 and position = $2 and message_index = $3`,
    [...positionValues(from), ...positionValues(to)],
    { prepared: true },
  );
  if (count !== 1) throw new PositionMoved();
}

const positionValues = ({ sequence, position, index }: ReadPosition): unknown[] => [
  sequence,
  String(position),
  index,
];

/**
 * Reads how far the endpoints of the read model are up to date; -1 when there are none yet. A
 * message is matched against endpoints only when they are at least as far as the message: otherwise
 * one that was created just before could be missed, or, while a lost read model is being filled
 * again, all.
 */
export async function endpointsPosition(connection: Connection): Promise<bigint> {
  const { rows } = await connection.query<{ position: string }>(
    `select position from counterfoil.projection where name = 'webhook_endpoints' and serving`,
    [],
    { prepared: true },
  );
  return BigInt(rows[0]?.position ?? -1);
}

/**
 * Reads which of these groups have deliveries that have not ended. `offset 0` keeps the planner from making
 * joins of the look-ups, which would read the whole queue.
 */
export async function readOpenGroups(
  connection: Connection,
  groups: readonly OrderedGroup[],
): Promise<readonly OpenGroup[]> {
  if (groups.length === 0) return [];
  const { rows } = await connection.query<OpenGroup>(
    `select asked.endpoint_id as "endpointId", asked.ordering_key as "orderingKey",
            exists (select from counterfoil.webhook_deliveries d
                     where d.endpoint_id = asked.endpoint_id and d.ordering_key = asked.ordering_key
                       and d.state = 'waiting' offset 0) as "hasWaiting"
       from unnest($1::text[], $2::text[]) as asked (endpoint_id, ordering_key)
      where exists (select from counterfoil.webhook_deliveries d
                     where d.endpoint_id = asked.endpoint_id and d.ordering_key = asked.ordering_key
                       and d.state in ('pending', 'waiting', 'sending') offset 0)`,
    [groups.map(({ endpointId }) => endpointId), groups.map(({ orderingKey }) => orderingKey)],
    { prepared: true },
  );
  return rows;
}

/** Stores messages with the bytes that every attempt will send. */
export async function insertMessages(
  connection: Connection,
  messages: readonly PublicMessage[],
): Promise<void> {
  const column = (value: (message: PublicMessage) => unknown) => messages.map(value);
  await connection.query(
    `insert into counterfoil.webhook_messages
       (event_id, tenant_id, environment_id, event_type, resource_id, position, sequence, stream,
        revision, correlation_id, occurred_at, body)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[],
       $7::bigint[], $8::text[], $9::bigint[], $10::text[], $11::timestamptz[], $12::bytea[])`,
    [
      column(({ id }) => id),
      column(({ tenantId }) => tenantId),
      column(({ environmentId }) => environmentId),
      column(({ type }) => type),
      column(({ resourceId }) => resourceId),
      column(({ position }) => String(position)),
      column(({ sequence }) => sequence),
      column(({ stream }) => stream),
      column(({ revision }) => revision),
      column(({ correlationId }) => correlationId),
      column(({ occurredAt }) => occurredAt),
      column(({ body }) => Buffer.from(body)),
    ],
    { prepared: true },
  );
}

/** Stores deliveries; their ids rise in the given order. To be called under the queue lock. */
export async function insertDeliveries(
  connection: Connection,
  deliveries: readonly PlannedDelivery[],
  trigger: 'scheduled' | 'recovery' = 'scheduled',
): Promise<void> {
  const column = (value: (delivery: PlannedDelivery) => unknown) => deliveries.map(value);
  await connection.query(
    `insert into counterfoil.webhook_deliveries
       (event_id, endpoint_id, environment_id, resource_id, ordering_key, trigger, state, head_of_line_seconds,
        next_at, finished_at, release_number)
     select event_id, endpoint_id, environment_id, resource_id, ordering_key, $9, state, head_of_line_seconds,
            coalesce(now() + due_in * interval '1 second', 'infinity'),
            case when state = 'skipped' then now() end,
            case when state = 'pending' and ordering_key is not null
              then nextval('counterfoil.webhook_release_numbers') end
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::integer[],
              $7::integer[], $8::text[]) with ordinality
         as planned (event_id, endpoint_id, environment_id, resource_id, state, head_of_line_seconds,
              due_in, ordering_key, place)
      order by place`,
    [
      column(({ eventId }) => eventId),
      column(({ endpointId }) => endpointId),
      column(({ environmentId }) => environmentId),
      column(({ resourceId }) => resourceId),
      column(({ state }) => state),
      column(({ headOfLineSeconds }) => headOfLineSeconds),
      column(({ dueInSeconds }) => dueInSeconds),
      column(({ orderingKey }) => orderingKey),
      trigger,
    ],
    { prepared: true },
  );
}

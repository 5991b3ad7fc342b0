import {
  type Connection,
  given,
  type PublicMessage,
  parameter,
  statementText,
  transactionTime,
} from '@counterfoil/engine';
import { sql } from 'kysely';
import { type Audience, idsOf, isAudience } from './audience.ts';
import type { OpenGroup, OrderedGroup, PlannedDelivery } from './fan-out-plan.ts';
import {
  afterSeconds,
  deliveriesLike,
  givenGroups,
  group,
  insertGiven,
  nextRelease,
  queue,
  servingEndpoints,
  some,
} from './schema.ts';

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

/** Reads the place up to which this worker, or another one before it, has read. */
export async function readPosition(connection: Connection): Promise<ReadPosition> {
  const { rows } = await connection.run(queue.selectFrom('webhook_position').selectAll());
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
  const { count } = await connection.query(moving, placesOf(from, to), { prepared: true });
  if (count !== 1) throw new PositionMoved();
}

/**
 * Moves the position on over messages that no endpoint was to have, in one statement, which sees one state:
 * endpoints that are as far, and the audience that was read for. Returns false when one of these, or the position,
 * is another by now; nothing is changed then.
 */
export async function passOver(
  connection: Connection,
  from: ReadPosition,
  to: ReadPosition,
  audience: Audience,
): Promise<boolean> {
  const values = [...placesOf(from, to), idsOf(audience)];
  const { count } = await connection.query(passing, values, { prepared: true });
  return count === 1;
}

/** The values of a move, in the order of its parameters. */
const placesOf = (...moved: readonly [from: ReadPosition, to: ReadPosition]): readonly string[] =>
  moved.flatMap(({ sequence, position, index }) => [sequence, position, index].map(String));

/** The columns of a place, given by three parameters from this one on. */
const placeFrom = (first: number) => ({
  sequence: parameter<string>(first),
  position: parameter<string>(first + 1),
  message_index: parameter<number>(first + 2),
});

const toMove = queue
  .updateTable('webhook_position')
  .set({ ...placeFrom(4), updated_at: transactionTime })
  .where((row) => row.and(placeFrom(1)));

const moving = statementText(toMove);

const passing = statementText(
  toMove
    .where(servingEndpoints.clearSelect().select('position'), '>=', placeFrom(4).position)
    .where(isAudience(parameter(7))),
);

/**
 * Reads how far the endpoints of the read model are up to date; -1 when there are none yet. A
 * message is matched against endpoints only when they are at least as far as the message: otherwise
 * one that was created just before could be missed, or, while a lost read model is being filled
 * again, all.
 */
export async function endpointsPosition(connection: Connection): Promise<bigint> {
  const { rows } = await connection.run(servingEndpoints, { prepared: true });
  return BigInt(rows[0]?.position ?? -1);
}

/** Reads which of these groups have deliveries that have not ended. */
export async function readOpenGroups(
  connection: Connection,
  groups: readonly OrderedGroup[],
): Promise<readonly OpenGroup[]> {
  if (groups.length === 0) return [];
  const { rows } = await connection.run(
    queue
      .selectFrom(givenGroups('asked', groups))
      .select([
        'asked.endpoint_id as endpointId',
        'asked.ordering_key as orderingKey',
        some(deliveriesLike('asked', group, 'waiting')).as('hasWaiting'),
      ])
      .where(some(deliveriesLike('asked', group, 'pending', 'waiting', 'sending'))),
    { prepared: true },
  );
  return rows;
}

/** Stores messages with the bytes that every attempt will send. */
export async function insertMessages(
  connection: Connection,
  messages: readonly PublicMessage[],
): Promise<void> {
  const rows = insertGiven('webhook_messages', messages, {
    event_id: ['text', ({ id }) => id],
    tenant_id: ['text', ({ tenantId }) => tenantId],
    environment_id: ['text', ({ environmentId }) => environmentId],
    event_type: ['text', ({ type }) => type],
    resource_id: ['text', ({ resourceId }) => resourceId],
    position: ['bigint', ({ position }) => String(position)],
    sequence: ['bigint', ({ sequence }) => sequence],
    stream: ['text', ({ stream }) => stream],
    revision: ['bigint', ({ revision }) => revision],
    correlation_id: ['text', ({ correlationId }) => correlationId],
    occurred_at: ['timestamptz', ({ occurredAt }) => occurredAt],
    body: ['bytea', ({ body }) => Buffer.from(body)],
  });
  await connection.run(rows, { prepared: true });
}

const plannedColumns = [
  'event_id',
  'endpoint_id',
  'environment_id',
  'resource_id',
  'ordering_key',
  'state',
  'head_of_line_seconds',
] as const;

/** Stores deliveries; their ids rise in the given order. To be called under the queue lock. */
export async function insertDeliveries(
  connection: Connection,
  deliveries: readonly PlannedDelivery[],
  trigger: 'scheduled' | 'recovery' = 'scheduled',
): Promise<void> {
  const planned = given('planned', deliveries, {
    event_id: ['text', ({ eventId }) => eventId],
    endpoint_id: ['text', ({ endpointId }) => endpointId],
    environment_id: ['text', ({ environmentId }) => environmentId],
    resource_id: ['text', ({ resourceId }) => resourceId],
    ordering_key: ['text', ({ orderingKey }) => orderingKey],
    state: ['text', ({ state }) => state],
    head_of_line_seconds: ['integer', ({ headOfLineSeconds }) => headOfLineSeconds],
    due_in: ['integer', ({ dueInSeconds }) => dueInSeconds],
    place: ['integer', (_, place) => place],
  });
  const selected = queue
    .selectFrom(planned)
    .select(plannedColumns)
    .select(({ ref }) => [
      sql`${trigger}`.as('trigger'),
      afterSeconds(ref('due_in')).as('next_at'),
      sql`case when state = 'skipped' then now() end`.as('finished_at'),
      sql`case when state = 'pending' and ordering_key is not null
            then ${nextRelease} end`.as('release_number'),
    ])
    .orderBy('place');
  await connection.run(
    queue
      .insertInto('webhook_deliveries')
      .columns([...plannedColumns, 'trigger', 'next_at', 'finished_at', 'release_number'])
      .expression(selected),
    { prepared: true },
  );
}

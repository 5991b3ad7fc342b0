import {
  type BigNumber,
  type EngineTables,
  type GivenColumn,
  type GivenColumns,
  given,
  type Json,
  literals,
  statementsOn,
  type Timestamp,
} from '@counterfoil/engine';
import { operationalTable, type TablesOf } from '@counterfoil/engine/define';
import {
  type Expression,
  type Generated,
  type GeneratedAlways,
  type Insertable,
  type RawBuilder,
  type Selectable,
  sql,
} from 'kysely';
import type { endpointTable, taskTable } from '../projection.ts';
import type { OrderedGroup } from './fan-out-plan.ts';
import type { BreakerState, DisableReason } from './health.ts';

interface PositionTable {
  readonly singleton: GeneratedAlways<boolean>;
  sequence: BigNumber;
  position: BigNumber;
  message_index: number;
  updated_at: Generated<Timestamp>;
}

interface MessageTable {
  event_id: string;
  tenant_id: string;
  environment_id: string;
  event_type: string;
  resource_id: string;
  /** 0 for tests, which no event of the log has caused. */
  position: BigNumber;
  sequence: BigNumber;
  stream: string;
  revision: BigNumber;
  correlation_id: string;
  occurred_at: Timestamp;
  created_at: Generated<Timestamp>;
  /** The text form of bytea: `\x` and hexadecimal digits. */
  body: string;
}

/** The reason for which a delivery is in the queue. */
export type Trigger = 'scheduled' | 'recovery' | 'resend' | 'test';

/** The states of a delivery: see migrations.ts. */
export type DeliveryState =
  | 'pending'
  | 'waiting'
  | 'sending'
  | 'delivered'
  | 'exhausted'
  | 'skipped'
  | 'cancelled';

interface DeliveryTable {
  readonly id: GeneratedAlways<BigNumber>;
  event_id: string;
  endpoint_id: string;
  environment_id: string;
  resource_id: string;
  ordering_key: string | null;
  release_number: BigNumber | null;
  trigger: Generated<Trigger>;
  task_id: Generated<string>;
  state: DeliveryState;
  head_of_line_seconds: number | null;
  attempt: Generated<number>;
  failures: Generated<number>;
  next_at: Timestamp;
  lease_until: Timestamp | null;
  created_at: Generated<Timestamp>;
  queued_at: Generated<Timestamp>;
  finished_at: Timestamp | null;
}

interface AttemptTable {
  delivery_id: BigNumber;
  attempt: number;
  environment_id: string;
  endpoint_id: string;
  event_id: string;
  trigger: Trigger;
  outcome: 'answer' | 'failure' | 'lost';
  status_code: number | null;
  reason: string | null;
  detail: Generated<string>;
  milliseconds: number | null;
  address: string | null;
  recorded_at: Generated<Timestamp>;
}

export interface HealthTable {
  endpoint_id: string;
  environment_id: string;
  enabled_at: Timestamp;
  state: BreakerState;
  failures_in_row: number;
  window_started_at: Timestamp;
  window_attempts: number;
  window_failures: number;
  probes: number;
  next_probe_at: Timestamp | null;
  allowance: number | null;
  failing_since: Timestamp | null;
  last_failure_at: Timestamp | null;
  last_success_at: Timestamp | null;
  disable_reason: DisableReason | null;
}

interface TaskRunTable {
  task_id: string;
  environment_id: string;
  state: 'running' | 'finished' | 'cancelled' | 'refused';
  reached: Generated<string>;
  examined: Generated<BigNumber>;
  queued: Generated<BigNumber>;
  message_id: string | null;
  detail: string | null;
  requested_at: Timestamp;
  started_at: Generated<Timestamp>;
  finished_at: Timestamp | null;
}

interface ReportTable {
  readonly id: GeneratedAlways<BigNumber>;
  environment_id: string;
  tenant_id: string;
  endpoint_id: string;
  message: Json;
}

/** The tables of the delivery worker, with those of others that it reads. */
export interface WebhookTables
  extends EngineTables,
    TablesOf<typeof endpointTable | typeof taskTable> {
  webhook_position: PositionTable;
  webhook_messages: MessageTable;
  webhook_deliveries: DeliveryTable;
  webhook_attempts: AttemptTable;
  webhook_health: HealthTable;
  webhook_rates: { endpoint_id: string; used_until: Timestamp };
  webhook_task_runs: TaskRunTable;
  webhook_reports: ReportTable;
}

/** The messages, for what requests read. */
export const messageTable = operationalTable<Selectable<MessageTable>>()('webhook_messages');
export const deliveryTable = operationalTable<Selectable<DeliveryTable>>()('webhook_deliveries');
export const attemptTable = operationalTable<Selectable<AttemptTable>>()('webhook_attempts');
export const healthTable = operationalTable<Selectable<HealthTable>>()('webhook_health');
export const taskRunTable = operationalTable<Selectable<TaskRunTable>>()('webhook_task_runs');

/** Statements on the tables of the delivery worker. */
export const queue = statementsOn<WebhookTables>();

/** The number of the delivery that is let go now. */
export const nextRelease = sql<string>`nextval('counterfoil.webhook_release_numbers')`;

/**
 * Keeps the planner from making a join of a look-up, which would read the whole queue: a sub-select
 * with an offset is carried out as it stands.
 */
export const asItStands = sql.lit(0);

/** True when there are such rows. */
export const some = (rows: Expression<unknown>): RawBuilder<boolean> => sql`exists ${rows}`;

/** True when there are no such rows. */
export const none = (rows: Expression<unknown>): RawBuilder<boolean> => sql`not exists ${rows}`;

/** The columns that make an ordered group. */
export const group = ['endpoint_id', 'ordering_key'] as const;

/**
 * The deliveries in some states that have the same values in some columns as a row that the statement
 * has at hand; `other` in further conditions.
 */
export const deliveriesLike = (
  row: string,
  columns: readonly ('event_id' | 'endpoint_id' | 'ordering_key')[],
  ...states: readonly DeliveryState[]
) =>
  queue
    .selectFrom('webhook_deliveries as other')
    .select('other.id')
    .where((other) =>
      other.and(
        columns.map((name) => other(`other.${name}`, '=', sql.ref<string>(`${row}.${name}`))),
      ),
    )
    .where('other.state', 'in', literals(...states))
    .offset(asItStands);

/** The state of a delivery, looked at in a way that no index of the queue can be taken for. */
export const stateOf = (table: string): RawBuilder<DeliveryState> =>
  sql`lower(${sql.ref(`${table}.state`)})`;

/** A length of time as Postgres has it. */
export const interval = (
  unit: 'millisecond' | 'second' | 'day',
  count: number,
): RawBuilder<never> => sql`${count} * ${sql.lit(`1 ${unit}`)}::interval`;

/** The instant so long before now. */
export const ago = (...length: Parameters<typeof interval>): RawBuilder<string> =>
  sql<string>`now() - ${interval(...length)}`;

/** The table of the endpoints that readers see, and how far it is. */
export const servingEndpoints = queue
  .selectFrom('projection_progress')
  .select(['relation', 'position'])
  .where('name', '=', sql.lit('webhook_endpoints'))
  .where('serving', '=', sql.lit(true));

/** The instant so many seconds after now; without end when there are none. */
export const afterSeconds = (seconds: Expression<number | null>): RawBuilder<string> =>
  sql`coalesce(now() + ${seconds} * interval '1 second', 'infinity')`;

/** Ordered groups as a table of a statement. */
export const givenGroups = <const Name extends string>(
  name: Name,
  groups: readonly OrderedGroup[],
) =>
  given(name, groups, {
    endpoint_id: ['text', ({ endpointId }) => endpointId],
    ordering_key: ['text', ({ orderingKey }) => orderingKey],
  });

/** Inserts each item as one row of a table. */
export const insertGiven = <Table extends keyof WebhookTables, Item>(
  table: Table,
  items: readonly Item[],
  columns: { readonly [Column in keyof Insertable<WebhookTables[Table]>]: GivenColumn<Item> },
) =>
  queue
    .insertInto(table)
    .columns(Object.keys(columns) as never)
    .expression(queue.selectFrom(given('item', items, columns as GivenColumns<Item>)).selectAll());

/** The values that an insert met a row with, under the names of their columns. */
export const excluded = <const Column extends string>(...columns: readonly Column[]) =>
  Object.fromEntries(columns.map((column) => [column, sql.ref(`excluded.${column}`)])) as Readonly<
    Record<Column, RawBuilder<never>>
  >;

/** True when the endpoints that readers see are as far as the public stream has been read. */
export const areEndpointsRead = sql<boolean>`${servingEndpoints.clearSelect().select('position')}
  >= ${queue.selectFrom('webhook_position').select('position')}`;

/**
 * The endpoints with deliveries in some states, to be joined to others. They are found by skipping
 * through the index from one to the next, so that neither the length of a queue nor the number of
 * idle endpoints matters.
 */
export function openEndpoints(...states: readonly DeliveryState[]) {
  const first = queue
    .selectFrom('webhook_deliveries as delivery')
    .select(['delivery.endpoint_id', 'delivery.environment_id'])
    .where('delivery.state', 'in', literals(...states))
    .orderBy('delivery.endpoint_id')
    .limit(sql.lit(1));
  const later = first.where('delivery.endpoint_id', '>', sql.ref<string>('previous.endpoint_id'));
  return queue
    .withRecursive('open_endpoint(endpoint_id, environment_id)', (query) =>
      query
        .selectFrom(first.as('first'))
        .selectAll()
        .unionAll((union) =>
          union
            .selectFrom('open_endpoint as previous')
            .crossJoinLateral(later.as('later'))
            .selectAll('later'),
        ),
    )
    .selectFrom('open_endpoint');
}

/** The body of a message as it is delivered. */
export const bodyText = sql<string>`convert_from(body, 'UTF8')`;

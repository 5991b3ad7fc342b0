import { type Connection, writtenOnce } from '@counterfoil/engine';
import { sql } from 'kysely';
import { withQueueLock } from './queue-lock.ts';
import {
  areEndpointsRead,
  excluded,
  interval,
  openEndpoints,
  queue,
  stateOf,
  type Trigger,
} from './schema.ts';

/** One state of one endpoint. */
export interface EndpointVersion {
  readonly id: string;
  readonly environmentId: string;
  readonly revision: string;
}

/** A delivery that this worker, and no other, is to send now. */
export interface Claimed {
  readonly id: string;
  readonly eventId: string;
  readonly endpointId: string;
  /** Number of this attempt, from 1; also the proof, later, that the claim has not expired. */
  readonly attempt: number;
  /** Attempts that have failed before. */
  readonly failures: number;
  readonly body: Buffer;
  /** The record that the event is about, and the place of the event among those of the record. */
  readonly resourceId: string;
  readonly sequence: string;
  /** The trigger of the delivery. */
  readonly trigger: Trigger;
  /** The time at which it came into the queue. */
  readonly queuedAt: string;
  /** True when it is sent to see if the endpoint is well again, while the others are held back. */
  readonly isProbe: boolean;
  /** Since when the endpoint has been enabled. */
  readonly enabledAt: string;
  readonly endpoint: EndpointVersion;
}

interface ClaimOptions {
  readonly limit: number;
  /** Milliseconds after which the delivery goes to another worker. */
  readonly leaseMs: number;
}

/** Instants in statements, `epoch` being due since 1970. */
const dueBy = sql<string>`case when breaker.is_held_back then 'epoch' else now() end`;

/**
 * Due deliveries, at most so many, with the endpoints that they go to.
 *
 * Each endpoint gives its due deliveries up to its own bound of what is in flight, up to what its
 * rate still allows in this second, and while it is held back none, or one as a probe. What was
 * asked for by hand is due since 1970 and passes by that. Of all those the endpoints with the
 * least in flight come first: when the worker has less room than there is work, one that hangs
 * cannot take the room of one that answers.
 */
function candidates(limit: number) {
  const breaker = queue.selectNoFrom([
    sql<boolean>`coalesce(health.state = 'open', false)`.as('is_open'),
    sql<boolean>`coalesce(health.state = 'open'
      and coalesce(health.next_probe_at > now(), true), false)`.as('is_held_back'),
  ]);
  const used = queue
    .selectFrom('webhook_rates as known')
    .select('known.used_until')
    .where('known.endpoint_id', '=', sql.ref<string>('endpoint.id'));
  const rate = queue.selectNoFrom(sql<string>`greatest(now(), ${used})`.as('used_until'));
  const busy = queue
    .selectFrom('webhook_deliveries as sent')
    .select(({ fn }) => fn.countAll<string>().as('sending'))
    .where('sent.state', '=', sql.lit('sending'))
    .where('sent.endpoint_id', '=', sql.ref<string>('endpoint.id'));
  const room = queue.selectNoFrom(
    sql<string>`least(
      least(endpoint.max_in_flight, case when breaker.is_open then 1 else health.allowance end)
        - busy.sending,
      floor(endpoint.rate_limit * (1.000001 - extract(epoch from rate.used_until - now()))))`.as(
      'free',
    ),
  );
  const firstDue = queue
    .selectFrom('webhook_deliveries as pending')
    .select(['pending.id', 'pending.next_at'])
    .where('pending.state', '=', sql.lit('pending'))
    .where('pending.endpoint_id', '=', sql.ref<string>('endpoint.id'))
    .where('pending.next_at', '<=', dueBy)
    .orderBy('pending.next_at')
    .orderBy('pending.id')
    .limit(sql<number>`greatest(0, room.free)::bigint`);
  const due = queue
    .selectFrom(firstDue.as('first_due'))
    .select(['id', sql<string>`row_number() over (order by next_at, id)`.as('place')]);
  return openEndpoints('pending')
    .innerJoin('webhook_endpoints as endpoint', (join) =>
      join
        .onRef('endpoint.environment_id', '=', 'open_endpoint.environment_id')
        .onRef('endpoint.id', '=', 'open_endpoint.endpoint_id')
        .on('endpoint.enabled', '=', sql.lit(true)),
    )
    .leftJoin('webhook_health as health', (join) =>
      join
        .onRef('health.endpoint_id', '=', 'endpoint.id')
        .onRef('health.enabled_at', '=', 'endpoint.enabled_at'),
    )
    .crossJoinLateral(breaker.as('breaker'))
    .crossJoinLateral(rate.as('rate'))
    .crossJoinLateral(busy.as('busy'))
    .crossJoinLateral(room.as('room'))
    .crossJoinLateral(due.as('due'))
    .select([
      'due.id',
      'endpoint.revision',
      'endpoint.id as endpoint_id',
      'endpoint.rate_limit',
      'breaker.is_open',
      'rate.used_until',
      sql<string>`endpoint.enabled_at`.as('enabled_at'),
    ])
    .where(areEndpointsRead)
    .orderBy(sql`busy.sending + due.place`)
    .orderBy('endpoint.id')
    .limit(limit);
}

/** Takes the candidates and the room that they need in the rates of their endpoints. */
const claimed = (limit: number, leaseMs: number) =>
  queue
    .with('candidate', () => candidates(limit))
    .with('paced', (query) =>
      query
        .insertInto('webhook_rates')
        .columns(['endpoint_id', 'used_until'])
        .expression(({ selectFrom }) =>
          selectFrom('candidate')
            .select([
              'endpoint_id',
              sql`max(used_until) + count(*) / max(rate_limit)::float * interval '1 second'`.as(
                'used_until',
              ),
            ])
            .where('rate_limit', 'is not', null)
            .groupBy('endpoint_id'),
        )
        .onConflict((conflict) =>
          conflict.column('endpoint_id').doUpdateSet(excluded('used_until')),
        ),
    )
    .with('claimed', (query) =>
      query
        .updateTable('webhook_deliveries as delivery')
        .from('candidate')
        .set({
          state: 'sending',
          attempt: sql`attempt + 1`,
          lease_until: sql`now() + ${interval('millisecond', leaseMs)}`,
        })
        .whereRef('delivery.id', '=', 'candidate.id')
        // The figures of the planner may be from a moment when the queue was empty. By an index of
        // it, it would then read the whole queue once for each claimed delivery.
        .where(stateOf('delivery'), '=', sql.lit('pending'))
        .returning([
          'delivery.id',
          'delivery.event_id',
          'delivery.endpoint_id',
          'delivery.environment_id',
          'delivery.attempt',
          'delivery.failures',
          'delivery.trigger',
          'delivery.queued_at',
          'candidate.revision',
          'candidate.enabled_at',
          'candidate.is_open as is_probe',
        ]),
    )
    .selectFrom('claimed')
    .innerJoin('webhook_messages as message', 'message.event_id', 'claimed.event_id')
    .selectAll('claimed')
    .select(['message.resource_id', 'message.revision as sequence', 'message.body']);

/** The claims that were written, by their bounds, which are few. One that finds nothing is followed by another like it. */
const written = new Map<string, ReturnType<typeof claimWith>>();
const claimWith = (limit: number, leaseMs: number) => writtenOnce(() => claimed(limit, leaseMs));

function knownClaim({ limit, leaseMs }: ClaimOptions): ReturnType<typeof claimWith> {
  const bounds = `${limit} ${leaseMs}`;
  const known = written.get(bounds) ?? claimWith(limit, leaseMs);
  written.set(bounds, known);
  return known;
}

/**
 * Takes deliveries that are due. The endpoints must be as far as the fan-out: while a lost read
 * model is being filled again it shows endpoints as they once were, and nothing may go there.
 */
export const claimDeliveries = (
  connection: Connection,
  options: ClaimOptions,
): Promise<readonly Claimed[]> =>
  withQueueLock(connection, 'claims', async () => {
    const { rows } = await connection.run(knownClaim(options), { prepared: true });
    return rows.map((row) => ({
      id: row.id,
      eventId: row.event_id,
      endpointId: row.endpoint_id,
      attempt: row.attempt,
      failures: row.failures,
      body: Buffer.from(row.body.slice(2), 'hex'),
      resourceId: row.resource_id,
      sequence: row.sequence,
      trigger: row.trigger,
      queuedAt: row.queued_at,
      isProbe: row.is_probe,
      enabledAt: row.enabled_at,
      endpoint: {
        id: row.endpoint_id,
        environmentId: row.environment_id,
        revision: row.revision,
      },
    }));
  });

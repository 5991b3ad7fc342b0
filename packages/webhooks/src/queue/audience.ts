import { type Connection, writtenOnce } from '@counterfoil/engine';
import type { FeedScope } from '@counterfoil/engine/define';
import { type RawBuilder, sql } from 'kysely';
import { queue } from './schema.ts';

/** The environments that have endpoints, in the order of their ids; null when they are too many to be named. */
export type Audience = readonly FeedScope[] | null;

/** The broker compares each message with each of them. */
const environmentsMaximum = 100;

const served = queue.selectFrom('webhook_endpoints').where('status', '<>', 'deleted');

const environments = writtenOnce(() =>
  served
    .select(['tenant_id as tenantId', 'environment_id as environmentId'])
    .distinct()
    .orderBy('environment_id')
    .limit(environmentsMaximum + 1),
);

/** Reads which environments have endpoints that are not deleted. */
export async function readAudience(connection: Connection): Promise<Audience> {
  const { rows } = await connection.run(environments, { prepared: true });
  return rows.length > environmentsMaximum ? null : rows;
}

/** True in a statement where an audience has no other environments than when it was read. */
export function isAudience(audience: Audience): RawBuilder<boolean> {
  if (audience === null) return sql<boolean>`true`;
  const ids = audience.map(({ environmentId }) => environmentId);
  const now = served.select(
    sql`coalesce(array_agg(distinct environment_id order by environment_id), '{}')`.as('ids'),
  );
  return sql<boolean>`${now} = ${ids}::text[]`;
}

/** Tells whether an audience has no other environments than when it was read; one of all always does. */
export async function isStill(connection: Connection, audience: Audience): Promise<boolean> {
  const statement = queue.selectNoFrom(isAudience(audience).as('is_still'));
  const { rows } = await connection.run(statement, { prepared: true });
  return rows[0]?.is_still ?? false;
}

import { type Connection, parameter, statementText, writtenOnce } from '@counterfoil/engine';
import type { FeedScope } from '@counterfoil/engine/define';
import { type RawBuilder, sql } from 'kysely';
import { queue } from './schema.ts';

/** The environments that have endpoints, in the order of their ids; null when they are too many to be named. */
export type Audience = readonly FeedScope[] | null;

/** The broker compares each message with each of them. */
const environmentsMaximum = 100;

const served = queue.selectFrom('webhook_endpoints').where('status', '<>', sql.lit('deleted'));

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

/** The ids of an audience's environments; null of one of all. */
export const idsOf = (audience: Audience): readonly string[] | null =>
  audience?.map(({ environmentId }) => environmentId) ?? null;

/** True in a statement where an audience, given by its ids, has no other environments than when it was read. */
export function isAudience(ids: RawBuilder<readonly string[] | null>): RawBuilder<boolean> {
  const now = served.select(
    sql`coalesce(array_agg(distinct environment_id order by environment_id), '{}')`.as('ids'),
  );
  return sql<boolean>`(${ids}::text[] is null or ${now} = ${ids}::text[])`;
}

const still = statementText(queue.selectNoFrom(isAudience(parameter(1)).as('is_still')));

/** Tells whether an audience has no other environments than when it was read; one of all always does. */
export async function isStill(connection: Connection, audience: Audience): Promise<boolean> {
  const values = [idsOf(audience)];
  const { rows } = await connection.query<{ is_still: boolean }>(still, values, { prepared: true });
  return rows[0]?.is_still ?? false;
}

import { type Connection, writtenOnce } from '@counterfoil/engine';
import type { FeedScope } from '@counterfoil/engine/define';
import { queue } from './schema.ts';

/** The environments that have endpoints, in the order of their ids; null when they are too many to be named. */
export type Audience = readonly FeedScope[] | null;

/** The broker compares each message with each of them. */
const environmentsMaximum = 100;

const environments = writtenOnce(() =>
  queue
    .selectFrom('webhook_endpoints')
    .select(['tenant_id as tenantId', 'environment_id as environmentId'])
    .distinct()
    .where('status', '<>', 'deleted')
    .orderBy('environment_id')
    .limit(environmentsMaximum + 1),
);

/** Reads which environments have endpoints that are not deleted. */
export async function readAudience(connection: Connection): Promise<Audience> {
  const { rows } = await connection.run(environments, { prepared: true });
  return rows.length > environmentsMaximum ? null : rows;
}

/** Tells whether an audience has no other environments than when it was read; one of all always does. */
export async function isStill(connection: Connection, audience: Audience): Promise<boolean> {
  if (audience === null) return true;
  const now = await readAudience(connection);
  return (
    now?.length === audience.length &&
    now.every(({ environmentId }, index) => environmentId === audience[index]?.environmentId)
  );
}

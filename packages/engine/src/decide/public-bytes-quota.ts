import { Problem } from '@counterfoil/kernel';
import { sql } from 'kysely';
import { runForever } from '../consume/run-forever.ts';
import { schemaName } from '../database/database.ts';
import type { EngineTables } from '../database/schema.ts';
import { openKysely, transactionTime } from '../database/statements.ts';
import type { Log } from '../operations/log.ts';

/** Bounds what each tenant puts on the public stream, which all tenants share (D45). */
export interface PublicBytesQuota {
  /** Throws a `Problem` too_many_requests when the tenant has used up the bytes of this hour. */
  assertLeft(tenant: string): void;
  close(): Promise<void>;
}

interface WatchOptions {
  readonly database: string;
  readonly log: Pick<Log, 'warn'>;
  /** Bytes of bodies that a tenant may publish within an hour. */
  readonly perHour: number;
  /** Milliseconds between two looks. 5 s unless given. */
  readonly everyMilliseconds?: number;
}

/** Tenants above their quota that one process knows of. */
const tenantsMaximum = 10_000;
const hourSeconds = 3_600;

/**
 * Follows what the relay has counted. A tenant may therefore go beyond its quota by what it writes in the
 * seconds until it is counted and seen; while the relay or the database is away, nothing more is counted.
 */
export function watchPublicBytes({
  database,
  log,
  perHour,
  everyMilliseconds = 5_000,
}: WatchOptions): PublicBytesQuota {
  const pool = openKysely<EngineTables>(database, 1);
  const tables = pool.withSchema(schemaName);
  const stopping = new AbortController();
  /** For each tenant above its quota the time at which its hour ends, in milliseconds that only rise. */
  let ends: ReadonlyMap<string, number> = new Map();

  const look = async (): Promise<number> => {
    const left = sql<number>`${hourSeconds} - extract(epoch from ${transactionTime} - began_at)::float8`;
    const above = await tables
      .selectFrom('public_bytes')
      .select(['tenant_id', left.as('seconds_left')])
      .where('bytes', '>=', String(perHour))
      .where(left, '>', 0)
      .limit(tenantsMaximum)
      .execute();
    const now = performance.now();
    ends = new Map(above.map((row) => [row.tenant_id, now + row.seconds_left * 1_000]));
    return everyMilliseconds;
  };

  const running = runForever(look, {
    name: 'the quota of public bytes',
    log,
    signal: stopping.signal,
  });
  return {
    assertLeft(tenant) {
      const milliseconds = (ends.get(tenant) ?? 0) - performance.now();
      if (milliseconds <= 0) return;
      throw new Problem(
        'too_many_requests',
        `The public events of this tenant have more than ${perHour} bytes within an hour. ` +
          'Repeat after Retry-After seconds, or ask the operator for a higher quota.',
        {
          retryAfterSeconds: Math.ceil(milliseconds / 1_000),
          details: { reason: 'limit_reached', limit: perHour },
        },
      );
    },
    async close() {
      stopping.abort();
      await running;
      await pool.destroy();
    },
  };
}

import type { Instant } from '@counterfoil/kernel';
import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../database/database.ts';
import { given, statementsOn } from '../database/statements.ts';
import type { TestClock } from '../define/clock.ts';
import type { DueWork } from '../define/due-work.ts';

/** Rows of one kind of due work that are taken at once. */
export const dueRowsMaximum = 500;

/** A row of a read table whose time has come, or will come. */
export interface DueRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly environment_id: string | null;
  readonly revision: string;
  readonly due_at: Instant;
}

/** The instants by which rows are due: the system's, and for environments with test clocks theirs. */
export interface DueTimes {
  readonly now: Instant;
  readonly testClocks: readonly Pick<TestClock, 'environmentId' | 'now' | 'advance'>[];
}

/**
 * The rows whose time has come, earliest first, without some. Those of a clock that advances are left to the
 * advance.
 */
export async function dueRows(
  connection: Connection,
  work: DueWork,
  { now, testClocks }: DueTimes,
  without: readonly string[],
): Promise<readonly DueRow[]> {
  const { due, rows: ofWork } = rowsOf(work);
  const rows = ofWork
    .where(sql<boolean>`id <> all(${without}::text[])`)
    .orderBy(due)
    .limit(dueRowsMaximum);
  if (testClocks.length === 0) return (await connection.run(rows.where(due, '<=', now))).rows;
  const apart = testClocks.map(({ environmentId }) => environmentId);
  const isApart = sql<boolean>`coalesce(environment_id = any(${apart}::text[]), false)`;
  const system = rows.where(due, '<=', now).where(sql<boolean>`not ${isApart}`);
  const standing = testClocks.filter(({ advance }) => advance === null);
  const clocks = given('clock', standing, {
    owner: ['text', ({ environmentId }) => environmentId],
    time: ['timestamptz', (clock) => clock.now],
  });
  const own = rows.innerJoin(clocks, (join) =>
    join.on(sql<boolean>`clock.owner = environment_id and ${due} <= clock.time`),
  );
  return [...(await connection.run(system)).rows, ...(await connection.run(own)).rows];
}

/** The rows of an environment that are or become due up to an instant, earliest first. */
export async function dueRowsUpTo(
  connection: Connection,
  work: DueWork,
  { tenantId, environmentId }: Pick<TestClock, 'tenantId' | 'environmentId'>,
  upTo: Instant,
): Promise<readonly DueRow[]> {
  const { due, rows } = rowsOf(work);
  const found = await connection.run(
    rows
      .where('tenant_id', '=', tenantId)
      .where('environment_id', '=', environmentId)
      .where(due, '<=', upTo)
      .orderBy(due)
      .limit(dueRowsMaximum),
  );
  return found.rows;
}

function rowsOf({ table, column }: DueWork) {
  const due: RawBuilder<string> = sql.ref(column);
  const instant = sql<Instant>`to_char(${due} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const rows = statementsOn<Record<string, DueRow>>()
    .selectFrom(table.name)
    .select(['id', 'tenant_id', 'environment_id', 'revision', instant.as('due_at')]);
  return { due, rows };
}

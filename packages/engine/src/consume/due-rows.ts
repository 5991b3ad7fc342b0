import type { Instant } from '@counterfoil/kernel';
import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../database/database.ts';
import { parameter, statementsOn, statementText } from '../database/statements.ts';
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
 * advance. The statements of a kind stay the same, whatever they are asked with: they are written once, and kept
 * prepared in the session.
 */
export async function dueRows(
  connection: Connection,
  work: DueWork,
  { now, testClocks }: DueTimes,
  without: readonly string[],
): Promise<readonly DueRow[]> {
  const { system, own } = statementsOf(work);
  const prepared = { prepared: true };
  const apart = testClocks.map(({ environmentId }) => environmentId);
  const found = [connection.query<DueRow>(system, [now, without, apart], prepared)];
  const standing = testClocks.filter(({ advance }) => advance === null);
  if (standing.length > 0) {
    const owners = standing.map(({ environmentId }) => environmentId);
    const times = standing.map((clock) => clock.now);
    found.push(connection.query<DueRow>(own, [owners, times, without], prepared));
  }
  return (await Promise.all(found)).flatMap(({ rows }) => rows);
}

/** The rows of an environment that are or become due up to an instant, earliest first. */
export async function dueRowsUpTo(
  connection: Connection,
  work: DueWork,
  { tenantId, environmentId }: Pick<TestClock, 'tenantId' | 'environmentId'>,
  upTo: Instant,
): Promise<readonly DueRow[]> {
  const values = [tenantId, environmentId, upTo];
  return (await connection.query<DueRow>(statementsOf(work).upTo, values, { prepared: true })).rows;
}

/** The texts of the statements of a kind of work. */
interface Statements {
  /** The rows by the system's time. Parameters: that, the ids to leave out, and the environments with clocks. */
  readonly system: string;
  /** The rows by clocks. Parameters: their environments, their times, and the ids to leave out. */
  readonly own: string;
  /** The rows of an environment up to an instant. Parameters: its tenant, itself, and that. */
  readonly upTo: string;
}

const written = new WeakMap<DueWork, Statements>();

function statementsOf(work: DueWork): Statements {
  const known = written.get(work);
  if (known) return known;
  const { due, rows } = rowsOf(work);
  const earliest = rows.orderBy(due).limit(sql.lit(dueRowsMaximum));
  const system = earliest
    .where(sql<boolean>`${due} <= ${parameter(1)}::timestamptz`)
    .where(sql<boolean>`id <> all(${parameter(2)}::text[])`)
    .where(sql<boolean>`not coalesce(environment_id = any(${parameter(3)}::text[]), false)`);
  const clocks = sql<object>`unnest(${parameter(1)}::text[], ${parameter(2)}::timestamptz[])`;
  const own = earliest
    .innerJoin(clocks.as<'clock'>(sql`clock (owner, time)`), (join) =>
      join.on(sql<boolean>`clock.owner = environment_id and ${due} <= clock.time`),
    )
    .where(sql<boolean>`id <> all(${parameter(3)}::text[])`);
  const upTo = earliest
    .where(sql<boolean>`tenant_id = ${parameter(1)} and environment_id = ${parameter(2)}`)
    .where(sql<boolean>`${due} <= ${parameter(3)}::timestamptz`);
  const texts = {
    system: statementText(system),
    own: statementText(own),
    upTo: statementText(upTo),
  };
  written.set(work, texts);
  return texts;
}

function rowsOf({ table, column }: DueWork) {
  const due: RawBuilder<string> = sql.ref(column);
  const instant = sql<Instant>`to_char(${due} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const rows = statementsOn<Record<string, DueRow>>()
    .selectFrom(table.name)
    .select(['id', 'tenant_id', 'environment_id', 'revision', instant.as('due_at')]);
  return { due, rows };
}

import { BrokenInvariant } from '@counterfoil/kernel';
import { sql } from 'kysely';
import { whenAllEnded } from '../consume/run-forever.ts';
import { type Connection, transaction } from '../database/database.ts';
import { isLockTimeout } from '../database/database-errors.ts';
import { statements, transactionTime } from '../database/statements.ts';
import type { AnyProjection } from '../define/projection.ts';
import type { Position } from '../log/types.ts';
import {
  changeProjection,
  type ProjectionKey,
  type ProjectionRow,
  readProjections,
  tablesChanged,
  tellReaders,
} from './checkpoint.ts';
import type { Target } from './row-store.ts';
import { createRelation, inSchema, pointView, relationName, shapeOf } from './table-shape.ts';

/** A filling of a read table that this projector moves on. */
export interface ActiveTable extends Target, ProjectionKey {
  position: Position;
  /** True when readers see it. */
  serving: boolean;
  /** True when it had no position of its own at the start: it stands with the others. */
  readonly standsTogether: boolean;
}

/**
 * A reader's statement takes seconds at most; when one holds a table longer, the switch is tried
 * again later.
 */
const lockTimeout = `set local lock_timeout = '500ms'`;

/**
 * Makes sure that each read table has a filling of its current version, makes what is missing, and
 * returns all fillings to be moved on. A filling that was stopped is taken up again where it
 * stopped. Unfinished fillings of other versions are retired. Throws `BrokenInvariant` when the
 * columns of a table have changed without its version.
 */
export async function prepareTables(
  connection: Connection,
  tables: readonly AnyProjection[],
): Promise<ActiveTable[]> {
  const rows = await readProjections(connection);
  const active: ActiveTable[] = [];
  for (const table of tables) {
    const own = rows.filter((row) => row.name === table.name);
    active.push(...(await transaction(connection, () => prepareTable(connection, table, own))));
  }
  await leaveBehind(
    connection,
    rows.filter(({ relation }) => !active.some((table) => table.relation === inSchema(relation))),
  );
  await transaction(connection, () => tellReaders(connection, tablesChanged));
  return active;
}

/** Fillings that this program does not move on (of another version) stay where they are from now on. */
async function leaveBehind(connection: Connection, rows: readonly ProjectionRow[]): Promise<void> {
  for (const row of rows.filter(({ standsTogether }) => standsTogether)) {
    await changeProjection(connection, row, { position: String(row.position) });
  }
}

async function prepareTable(
  connection: Connection,
  table: AnyProjection,
  rows: readonly ProjectionRow[],
): Promise<ActiveTable[]> {
  const kept: ActiveTable[] = [];
  for (const row of rows.filter(({ status }) => status !== 'retired')) {
    const isCurrent = row.version === table.version;
    if (isCurrent && row.shape !== shapeOf(table)) {
      throw new BrokenInvariant(
        `The columns of read table ${table.name} have changed: raise its version (${table.version}).`,
      );
    }
    const exists = await relationExists(connection, row.relation);
    if (!exists || (!isCurrent && !row.serving)) await changeProjection(connection, row, retired);
    else if (isCurrent) kept.push(await resume(connection, table, row));
  }
  if (kept.length > 0) return kept;
  const generations = rows.filter((row) => row.version === table.version);
  const last = Math.max(-1, ...generations.map(({ generation }) => generation));
  return [await startFilling(connection, table, last + 1)];
}

async function relationExists(connection: Connection, relation: string): Promise<boolean> {
  const exists = sql<boolean>`to_regclass(${inSchema(relation)}) is not null`;
  const { rows } = await connection.run(statements.selectNoFrom(exists.as('exists')));
  return rows[0]?.exists === true;
}

async function resume(
  connection: Connection,
  table: AnyProjection,
  row: ProjectionRow,
): Promise<ActiveTable> {
  if (row.status === 'stopped') {
    const status = row.serving ? 'live' : 'building';
    await changeProjection(connection, row, { status, error: null });
  }
  return activeTable(table, row, row);
}

const activeTable = (
  table: AnyProjection,
  { name, version, generation }: ProjectionKey,
  {
    position,
    serving,
    standsTogether,
  }: Pick<ActiveTable, 'position' | 'serving' | 'standsTogether'>,
): ActiveTable => ({
  table,
  name,
  version,
  generation,
  relation: inSchema(relationName(table, generation)),
  position,
  serving,
  standsTogether,
});

/**
 * Makes an empty table for the current version, to be filled from the start of the log. Inside a transaction of the
 * caller: its statements are sent at once.
 */
export async function startFilling(
  connection: Connection,
  table: AnyProjection,
  generation: number,
): Promise<ActiveTable> {
  const relation = relationName(table, generation);
  const { name, version } = table;
  const row = { name, version, generation, relation, shape: shapeOf(table) };
  await whenAllEnded([
    connection.run(statements.insertInto('projection').values(row)),
    // Without a row it is nobody's.
    connection.query(`drop table if exists ${inSchema(relation)}`),
    ...createRelation(table, relation).map((statement) => connection.query(statement)),
  ]);
  const empty = { position: 0n, serving: false, standsTogether: false };
  return activeTable(table, { name, version, generation }, empty);
}

const retired = { status: 'retired', serving: false, rebuild_requested: false } as const;

/**
 * Lets readers see fillings: points the views at them and retires the ones before, all in one transaction.
 * False when readers did not let go of an old table in time; to be tried again.
 */
export async function promote(
  connection: Connection,
  fillings: readonly ActiveTable[],
): Promise<boolean> {
  try {
    await transaction(connection, () =>
      whenAllEnded([
        connection.query(lockTimeout),
        ...fillings.flatMap((filling) => switchTo(connection, filling)),
        tellReaders(connection, tablesChanged),
      ]),
    );
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
  for (const filling of fillings) filling.serving = true;
  return true;
}

/** Sends the statements by which one filling takes the place of another. */
function switchTo(connection: Connection, filling: ActiveTable): Promise<unknown>[] {
  const { table, name, generation } = filling;
  const replaced = statements
    .updateTable('projection')
    .set({ ...retired, updated_at: transactionTime })
    .where('name', '=', name)
    .where('serving', '=', true);
  return [
    ...pointView(table, relationName(table, generation)).map((text) => connection.query(text)),
    connection.run(replaced),
    changeProjection(connection, filling, { status: 'live', serving: true, error: null }),
  ];
}

/** Drops the tables of retired fillings. One that is still being read stays for the next time. */
export async function dropRetired(connection: Connection): Promise<void> {
  const rows = await readProjections(connection);
  for (const row of rows.filter(({ status }) => status === 'retired')) {
    try {
      await transaction(connection, async () => {
        await whenAllEnded([
          connection.query(lockTimeout),
          connection.query(`drop table if exists ${inSchema(row.relation)}`),
          connection.run(statements.deleteFrom('projection').where('relation', '=', row.relation)),
        ]);
      });
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
    }
  }
}

/** A rebuild that is already at work. */
const isUnderWay = ({ serving, status }: ProjectionRow): boolean =>
  !serving && status === 'building';

/** A rebuild that met an event which it could not take: the next one begins again. */
const hasFailed = ({ serving, status }: ProjectionRow): boolean => !serving && status === 'stopped';

/** Fillings that begin, and the relations of those that had failed before and are now retired. */
interface Started {
  readonly started: ActiveTable[];
  readonly givenUp: string[];
}

/**
 * Starts a new filling for each table of which a rebuild is requested, unless one is under way already: all of them in
 * one transaction.
 */
export async function startRequested(
  connection: Connection,
  tables: readonly AnyProjection[],
): Promise<Started> {
  const rows = await readProjections(connection);
  const requested = tables.filter(({ name, version }) =>
    rows.some((row) => row.rebuildRequested && row.name === name && row.version === version),
  );
  if (requested.length === 0) return { started: [], givenUp: [] };
  return transaction(connection, async () => {
    const beginnings = requested.map((table) => startAgain(connection, table, rows));
    await whenAllEnded(beginnings);
    const begun = await Promise.all(beginnings);
    return {
      started: begun.flatMap(({ started }) => started),
      givenUp: begun.flatMap(({ givenUp }) => givenUp),
    };
  });
}

/** Starts a new filling of a table, given the rows of all. Inside a transaction of the caller. */
async function startAgain(
  connection: Connection,
  table: AnyProjection,
  rows: readonly ProjectionRow[],
): Promise<Started> {
  const { name, version } = table;
  const fillings = rows.filter((row) => row.name === name && row.version === version);
  const asked = fillings.filter(({ rebuildRequested }) => rebuildRequested);
  const heard = asked.map((row) => changeProjection(connection, row, { rebuild_requested: false }));
  if (fillings.some(isUnderWay)) {
    await whenAllEnded(heard);
    return { started: [], givenUp: [] };
  }
  const failed = fillings.filter(hasFailed);
  const last = Math.max(...fillings.map(({ generation }) => generation));
  const starting = startFilling(connection, table, last + 1);
  const retiring = failed.map((row) => changeProjection(connection, row, retired));
  await whenAllEnded([...heard, ...retiring, starting]);
  return {
    started: [await starting],
    givenUp: failed.map(({ relation }) => inSchema(relation)),
  };
}

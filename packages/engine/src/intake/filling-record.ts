import { type Connection, schemaName } from '../database/database.ts';
import { statements, transactionTime } from '../database/statements.ts';
import type { Position } from '../log/types.ts';
import {
  CheckpointMoved,
  type LogMark,
  markIn,
  type ProjectionKey,
} from '../projection/checkpoint.ts';
import { quoted } from '../projection/table-shape.ts';

/** Identity of one filling of an intake's tables, as that of a read table. */
export type FillingKey = ProjectionKey;

/** A filling and how far it has come. */
export interface FillingRow extends FillingKey {
  /** True when readers see it. */
  readonly serving: boolean;
  readonly retired: boolean;
  readonly rebuildRequested: boolean;
  /** Everything up to here is in the tables. */
  readonly position: Position;
  /** Counts the parts that were dropped or filled again. */
  readonly partChanges: number;
  readonly mark: LogMark | null;
}

/** Channel on which fillings tell `<schema> <position>` after each batch, or `tables` after a switch. */
export const filledChannel = 'counterfoil_filled';
export const fillingsChanged = 'tables';

/** Channel on which those who fill are asked to look for a rebuild. */
export const fillingsChannel = 'counterfoil_fillings';

/** The schema of a filling's tables. */
export const fillingSchema = ({ name, version, generation }: FillingKey): string =>
  `${schemaName}_${name}_v${version}${generation === 0 ? '' : `_g${generation}`}`;

/** The same in quotes, for statements. */
export const quotedSchema = (key: FillingKey): string => quoted(fillingSchema(key));

/** The schema in which parts of it are filled again, in quotes. */
export const refillSchema = (key: FillingKey): string => `"${fillingSchema(key)}_refill"`;

/** Reads the fillings of all intakes, oldest first. */
export async function readFillings(connection: Connection): Promise<readonly FillingRow[]> {
  const { rows } = await connection.run(
    statements
      .selectFrom('filling')
      .selectAll()
      .orderBy('name')
      .orderBy('version')
      .orderBy('generation'),
  );
  return rows.map((row) => ({
    name: row.name,
    version: row.version,
    generation: row.generation,
    serving: row.serving,
    retired: row.retired,
    rebuildRequested: row.rebuild_requested,
    position: BigInt(row.position),
    partChanges: row.part_changes,
    mark: markIn(row),
  }));
}

/** Adds a filling that has nothing yet. */
export const addFilling = (
  connection: Connection,
  { name, version, generation }: FillingKey,
): Promise<unknown> =>
  connection.run(statements.insertInto('filling').values({ name, version, generation }));

/** A filling as its process left it. */
export type FillingPlace = FillingKey & Pick<FillingRow, 'position' | 'partChanges'>;

/**
 * Notes, in the transaction that drops a part or fills it again, that it did. Throws `CheckpointMoved` when another process
 * has moved the filling meanwhile; one that moves it later without knowing of this cannot.
 */
export async function notePartChange(
  connection: Connection,
  { name, version, generation, position, partChanges: part_changes }: FillingPlace,
): Promise<void> {
  const { count } = await connection.run(
    statements
      .updateTable('filling')
      .set({ part_changes: part_changes + 1, updated_at: transactionTime })
      .where((row) => row.and({ name, version, generation, part_changes, retired: false }))
      .where('position', '=', String(position)),
  );
  if (count !== 1) throw new CheckpointMoved();
}

/** A step of a filling along the log. */
export interface FillingMove {
  readonly to: Position;
  /** The last event that it has come to; null where nothing is known of it. */
  readonly mark: LogMark | null;
  /** True where what facts count as may have changed on the way. */
  readonly counts: boolean;
}

/**
 * Moves a filling on, in the transaction that writes its rows, and tells the readers. Throws
 * `CheckpointMoved` when another process has moved it meanwhile.
 */
export async function moveFilling(
  connection: Connection,
  filling: FillingPlace,
  { to, mark, counts }: FillingMove,
): Promise<void> {
  const { name, version, generation, position: from, partChanges: part_changes } = filling;
  const seen = mark && {
    event_position: String(mark.position),
    event_stream: mark.stream,
    event_revision: String(mark.revision),
    event_hash: mark.hash,
  };
  const { count } = await connection.run(
    statements
      .updateTable('filling')
      .set({
        position: String(to),
        updated_at: transactionTime,
        ...(counts && { counted_position: String(to) }),
        ...seen,
      })
      .where((row) => row.and({ name, version, generation, part_changes, retired: false }))
      .where('position', '=', String(from)),
    { prepared: true },
  );
  if (count !== 1) throw new CheckpointMoved();
  await connection.query(
    'select pg_notify($1, $2)',
    [filledChannel, `${fillingSchema(filling)} ${to}`],
    {
      prepared: true,
    },
  );
}

/** Lets readers see a filling, and no other of its name any more. */
export async function serve(connection: Connection, key: FillingKey): Promise<void> {
  const { name, version, generation } = key;
  const named = statements.updateTable('filling').where('name', '=', name);
  const others = { serving: false, retired: true, rebuild_requested: false };
  await connection.run(named.set(others).where('serving', '=', true));
  await connection.run(
    named
      .set({ serving: true, updated_at: transactionTime })
      .where((row) => row.and({ version, generation })),
  );
  await connection.query('select pg_notify($1, $2)', [filledChannel, fillingsChanged]);
}

/** Notes that a filling is not needed any more. */
export const retire = (
  connection: Connection,
  { name, version, generation }: FillingKey,
): Promise<unknown> =>
  connection.run(
    statements
      .updateTable('filling')
      .set({ retired: true })
      .where((row) => row.and({ name, version, generation })),
  );

/** Drops the tables of a filling that nobody needs, and forgets it. */
export async function dropFilling(connection: Connection, key: FillingKey): Promise<void> {
  const { name, version, generation } = key;
  await connection.query(`drop schema if exists ${refillSchema(key)} cascade`);
  await connection.query(`drop schema if exists ${quotedSchema(key)} cascade`);
  await connection.run(
    statements.deleteFrom('filling').where((row) => row.and({ name, version, generation })),
  );
}

import { type RawBuilder, type Selectable, type SqlBool, sql, type Updateable } from 'kysely';
import type { Connection } from '../database/database.ts';
import type { EngineTables, ProjectionTable } from '../database/schema.ts';
import { statements, transactionTime } from '../database/statements.ts';
import type { Position, StoredEvent } from '../log/types.ts';
import type { StopReason } from './apply-batch.ts';
import { arrayText } from './row.ts';
import { inSchema } from './table-shape.ts';

/** An event by which a log is recognised: no other log has this hash at this place. */
export interface LogMark {
  readonly stream: string;
  readonly revision: number;
  readonly position: Position;
  readonly hash: string;
}

/** The progress of the projector. */
export interface ProjectorRow {
  /** Everything up to here has been considered. */
  readonly position: Position;
  /** The last event that was seen; null before the first. */
  readonly mark: LogMark | null;
}

/** Identity of one filling of one read table. */
export interface ProjectionKey {
  readonly name: string;
  readonly version: number;
  /** Counts the rebuilds of a version, from 0 on. */
  readonly generation: number;
}

export interface ProjectionRow extends ProjectionKey {
  /** The physical table. */
  readonly relation: string;
  readonly status: Selectable<ProjectionTable>['status'];
  /** True when the view of this name points at it. */
  readonly serving: boolean;
  readonly position: Position;
  /** True when it moves with the projector and has no position of its own. */
  readonly standsTogether: boolean;
  readonly error: StopReason | null;
  readonly shape: string;
  readonly rebuildRequested: boolean;
}

/**
 * Channel on which the projector tells positions; `tables` when a table changed its status, and
 * `reset` when all has been thrown away.
 */
export const projectedChannel = 'counterfoil_projected';
export const tablesChanged = 'tables';
export const allDiscarded = 'reset';
/** Channel on which the projector is told to look at the projection rows. */
export const controlChannel = 'counterfoil_projector';

/** Another projector moved a checkpoint that only the holder of the lock may move. */
export class CheckpointMoved extends Error {
  override readonly name = 'CheckpointMoved';
  constructor() {
    super('The checkpoint is not where this projector left it: another one must be at work.');
  }
}

/** Reads how far the projector has come. */
export async function readProjector(connection: Connection): Promise<ProjectorRow> {
  const { rows } = await connection.run(statements.selectFrom('projector').selectAll());
  const [row] = rows;
  if (!row) return { position: 0n, mark: null };
  return { position: BigInt(row.position), mark: markIn(row) };
}

type MarkColumns = 'event_position' | 'event_stream' | 'event_revision' | 'event_hash';

/** The mark that the columns of a row hold; null for none. */
export function markIn({
  event_position: position,
  event_stream: stream,
  event_revision: revision,
  event_hash: hash,
}: Pick<Selectable<EngineTables['projector']>, MarkColumns>): LogMark | null {
  if (!position || !stream || !revision || !hash) return null;
  return { position: BigInt(position), stream, revision: Number(revision), hash };
}

/** Reads the rows of all read tables, oldest filling first. */
export async function readProjections(connection: Connection): Promise<readonly ProjectionRow[]> {
  const { rows } = await connection.run(
    statements
      .selectFrom('projection_progress')
      .selectAll()
      .orderBy('name')
      .orderBy('version')
      .orderBy('generation'),
  );
  return rows.map(({ rebuild_requested, stands_together, position, error, ...row }) => ({
    ...row,
    standsTogether: stands_together,
    position: BigInt(position),
    error: error === null ? null : (JSON.parse(error) as StopReason),
    rebuildRequested: rebuild_requested,
  }));
}

/** The mark that an event is. */
export const markOf = (event: StoredEvent): LogMark => ({
  stream: event.stream,
  revision: event.revision,
  position: event.position,
  hash: event.metadata.hash,
});

/** Any number of fillings in three parameters, so that the statement stays the same. */
const isOneOf = (keys: readonly ProjectionKey[]): RawBuilder<SqlBool> => {
  const column = (name: keyof ProjectionKey) => arrayText(keys.map((key) => String(key[name])));
  return sql`(name, version, generation) in (select * from unnest(
    ${column('name')}::text[], ${column('version')}::int[], ${column('generation')}::int[]))`;
};

/*
 * Text, for it is run with every batch: the builder would take longer to write it than Postgres to run it.
 */
const moveStatement = `update ${inSchema('projector')}
   set position = $2::bigint, updated_at = now(),
       event_position = coalesce($3::bigint, event_position), event_stream = coalesce($4::text, event_stream),
       event_revision = coalesce($5::bigint, event_revision), event_hash = coalesce($6::text, event_hash)
 where position = $1::bigint returning pg_notify('${projectedChannel}', $2::text)`;

/**
 * Moves the projector, and with it all tables that stand together, from one position to a later one,
 * in one statement, and tells everybody who listens once the transaction is committed. Throws
 * `CheckpointMoved` unless the projector is where this one left it.
 */
export async function moveProjector(
  connection: Connection,
  from: Position,
  to: Position,
  mark: LogMark | null,
): Promise<void> {
  const seen = mark
    ? [String(mark.position), mark.stream, String(mark.revision), mark.hash]
    : [null, null, null, null];
  const values = [String(from), String(to), ...seen];
  const { count } = await connection.query(moveStatement, values, { prepared: true });
  if (count !== 1) throw new CheckpointMoved();
}

/** Moves tables that have a position of their own, because they do not stand with the others (yet). */
export async function moveTables(
  connection: Connection,
  position: Position,
  tables: readonly ProjectionKey[],
): Promise<void> {
  const { count } = await connection.run(
    statements
      .updateTable('projection')
      .set({ position: String(position), updated_at: transactionTime })
      .where(isOneOf(tables))
      .where('position', '<=', String(position)),
    { prepared: true },
  );
  if (count !== tables.length) throw new CheckpointMoved();
}

/**
 * Lets tables stand with the others from now on: they have everything up to the projector's position,
 * which is given. Throws `CheckpointMoved` unless it is there, and they are not beyond it.
 */
export async function joinProjector(
  connection: Connection,
  position: Position,
  tables: readonly ProjectionKey[],
): Promise<void> {
  if (tables.length === 0) return;
  const { count } = await connection.run(
    statements
      .updateTable('projection')
      .set({ position: null, updated_at: transactionTime })
      .where(isOneOf(tables))
      .where('position', '<=', String(position))
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('projector').select('singleton').where('position', '=', String(position)),
        ),
      ),
  );
  if (count !== tables.length) throw new CheckpointMoved();
}

/** Changes the row of one filling. */
export const changeProjection = (
  connection: Connection,
  { name, version, generation }: ProjectionKey,
  changes: Updateable<ProjectionTable>,
): Promise<unknown> =>
  connection.run(
    statements
      .updateTable('projection')
      .set({ ...changes, updated_at: transactionTime })
      .where((row) => row.and({ name, version, generation })),
  );

/** Marks a table as stopped at a position, with the event that it could not take. */
export async function stopTable(
  connection: Connection,
  key: ProjectionKey,
  position: Position,
  reason: StopReason,
): Promise<void> {
  const error = JSON.stringify(reason);
  await changeProjection(connection, key, { status: 'stopped', position: String(position), error });
  await tellReaders(connection, tablesChanged);
}

const notified = (payload: string) => sql`pg_notify(${projectedChannel}, ${payload})`;

/**
 * Tells the readers, at the end of the transaction, that the status of a table has changed or that
 * all has been thrown away.
 */
export const tellReaders = (
  connection: Connection,
  payload: typeof tablesChanged | typeof allDiscarded,
): Promise<unknown> => connection.run(statements.selectNoFrom(notified(payload).as('notified')));

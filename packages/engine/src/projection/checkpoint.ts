import type { Connection } from '../database/database.ts';
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

export type ProjectionStatus = 'building' | 'live' | 'stopped' | 'retired';

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
  readonly status: ProjectionStatus;
  /** True when the view of this name points at it. */
  readonly serving: boolean;
  readonly position: Position;
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
  constructor() {
    super('The checkpoint is not where this projector left it: another one must be at work.');
    this.name = 'CheckpointMoved';
  }
}

interface StoredProjector {
  readonly position: string;
  readonly event_position: string | null;
  readonly event_stream: string | null;
  readonly event_revision: string | null;
  readonly event_hash: string | null;
}

/** Reads how far the projector has come. */
export async function readProjector(connection: Connection): Promise<ProjectorRow> {
  const { rows } = await connection.query<StoredProjector>(
    `select position, event_position, event_stream, event_revision, event_hash
       from ${inSchema('projector')}`,
  );
  const [row] = rows;
  if (!row) return { position: 0n, mark: null };
  const { event_position, event_stream, event_revision, event_hash } = row;
  const isMarked = event_position && event_stream && event_revision && event_hash;
  return {
    position: BigInt(row.position),
    mark: isMarked
      ? {
          position: BigInt(event_position),
          stream: event_stream,
          revision: Number(event_revision),
          hash: event_hash,
        }
      : null,
  };
}

interface StoredProjection {
  readonly name: string;
  readonly version: number;
  readonly generation: number;
  readonly relation: string;
  readonly status: ProjectionStatus;
  readonly serving: boolean;
  readonly position: string;
  readonly error: string | null;
  readonly shape: string;
  readonly rebuild_requested: boolean;
}

/** Reads the rows of all read tables, oldest filling first. */
export async function readProjections(connection: Connection): Promise<readonly ProjectionRow[]> {
  const { rows } = await connection.query<StoredProjection>(
    `select name, version, generation, relation, status, serving, position, error, shape,
            rebuild_requested
       from ${inSchema('projection')} order by name, version, generation`,
  );
  return rows.map(({ rebuild_requested, position, error, ...row }) => ({
    ...row,
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

const keyArrays = (keys: readonly ProjectionKey[]): string[] => [
  arrayText(keys.map(({ name }) => name)),
  arrayText(keys.map(({ version }) => String(version))),
  arrayText(keys.map(({ generation }) => String(generation))),
];

const isOneOf = (first: number): string =>
  `(name, version, generation) in
   (select * from unnest($${first}::text[], $${first + 1}::int[], $${first + 2}::int[]))`;

/**
 * Moves the projector and the given tables to a position, in one statement, and tells everybody
 * who listens once the transaction is committed. Throws `CheckpointMoved` unless all of them were
 * before that position.
 */
export async function moveCheckpoints(
  connection: Connection,
  position: Position,
  mark: LogMark | null,
  tables: readonly ProjectionKey[],
): Promise<void> {
  const { rows } = await connection.query<{ projectors: string; tables: string }>(
    `with moved as (
       update ${inSchema('projector')}
          set position = $1, event_position = coalesce($2, event_position),
              event_stream = coalesce($3, event_stream),
              event_revision = coalesce($4, event_revision),
              event_hash = coalesce($5, event_hash), updated_at = now()
        where position < $1 returning 1
     ), moved_tables as (
       update ${inSchema('projection')} set position = $1, updated_at = now()
        where ${isOneOf(6)} and position < $1 returning 1
     )
     select (select count(*) from moved) as projectors,
            (select count(*) from moved_tables) as tables,
            pg_notify('${projectedChannel}', $1::bigint::text)`,
    [
      String(position),
      mark && String(mark.position),
      mark?.stream,
      mark && String(mark.revision),
      mark?.hash,
      ...keyArrays(tables),
    ],
    { name: 'move_checkpoints' },
  );
  if (rows[0]?.projectors !== '1' || rows[0].tables !== String(tables.length)) {
    throw new CheckpointMoved();
  }
}

/** Moves tables that are not (yet) at the projector's position. */
export async function moveTables(
  connection: Connection,
  position: Position,
  tables: readonly ProjectionKey[],
): Promise<void> {
  const { count } = await connection.query(
    `update ${inSchema('projection')} set position = $1, updated_at = now()
      where ${isOneOf(2)} and position <= $1`,
    [String(position), ...keyArrays(tables)],
    { name: 'move_tables' },
  );
  if (count !== tables.length) throw new CheckpointMoved();
}

/** Marks a table as stopped at a position, with the event that it could not take. */
export async function stopTable(
  connection: Connection,
  key: ProjectionKey,
  position: Position,
  reason: StopReason,
): Promise<void> {
  await connection.query(
    `update ${inSchema('projection')}
        set status = 'stopped', position = $4, error = $5, updated_at = now()
      where name = $1 and version = $2 and generation = $3`,
    [key.name, key.version, key.generation, String(position), JSON.stringify(reason)],
  );
  await tellTablesChanged(connection);
}

/** Tells the readers, at the end of the transaction, that the status of a table has changed. */
export async function tellTablesChanged(connection: Connection): Promise<void> {
  await connection.query(`select pg_notify('${projectedChannel}', '${tablesChanged}')`);
}

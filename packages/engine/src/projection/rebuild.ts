import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../consume/run-forever.ts';
import { type Connection, connect, transaction } from '../database/database.ts';
import { statements, transactionTime } from '../database/statements.ts';
import type { AnyProjection } from '../define/projection.ts';
import { dropFilling, readFillings } from '../intake/filling-record.ts';
import { UnreadableEvent } from '../log/incoming-event.ts';
import type { EventStore } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import { forgetVerification } from '../verification/verification-record.ts';
import {
  allDiscarded,
  controlChannel,
  type ProjectionRow,
  projectedChannel,
  readProjections,
  tablesChanged,
  tellReaders,
} from './checkpoint.ts';
import { startProjector, tryProjectorLock } from './projector.ts';
import { inSchema } from './table-shape.ts';

interface RebuildOptions {
  readonly store: EventStore;
  readonly database: string;
  /** All read tables of the service. */
  readonly tables: readonly AnyProjection[];
  /** Names of those to rebuild; all when absent. */
  readonly only?: readonly string[];
  readonly log: Log;
  readonly signal?: AbortSignal;
}

const pollMilliseconds = 100;

/** A rebuild could not be finished; readers still see the rows from before. */
export class RebuildFailed extends Error {
  override readonly name: string = 'RebuildFailed';
}

/** The log holds an event that a table cannot take, or that cannot even be read; the message names it. */
export class RebuildStopped extends RebuildFailed {
  override readonly name = 'RebuildStopped';
}

/**
 * Fills read tables again from the start of the log, beside the ones that readers see, and switches
 * when they have caught up; resolves then. The projector that is active does the work; this
 * process stands by and does it itself when there is none. Throws `RebuildStopped` when a table meets an
 * event that it cannot take, and `RebuildFailed` when the projector refuses to work on this log.
 */
export async function rebuildReadModel(options: RebuildOptions): Promise<void> {
  const { store, database, tables, log, only, signal } = options;
  const names = only ?? tables.map(({ name }) => name);
  const wanted = tables.filter(({ name }) => names.includes(name));
  const unknown = names.find((name) => !tables.some((table) => table.name === name));
  if (unknown !== undefined) throw new RebuildFailed(`There is no read table ${unknown}.`);
  const connection = await connect(database, { application: 'counterfoil rebuild' });
  try {
    const before = await requestRebuild(connection, wanted);
    const changed = await tableChanges(connection);
    const projector = startProjector({ store, database, tables, log });
    try {
      for (;;) {
        const next = changed();
        signal?.throwIfAborted();
        const { state, failure } = projector.status();
        if (state === 'refused') throw refusalOf(failure);
        if (await areRebuilt(connection, wanted, before)) return;
        await Promise.race([next, delay(pollMilliseconds)]);
      }
    } finally {
      await projector.stop();
    }
  } finally {
    await connection.close();
  }
}

/** Listens for tables that readers get to see. Gives a function that returns the next such change. */
async function tableChanges(connection: Connection): Promise<() => Promise<void>> {
  let next = Promise.withResolvers<void>();
  connection.onNotification((_channel, payload) => {
    if (payload !== tablesChanged) return;
    next.resolve();
    next = Promise.withResolvers();
  });
  await connection.query(`listen ${projectedChannel}`);
  return () => next.promise;
}

const refusalOf = (failure: unknown): RebuildFailed =>
  failure instanceof UnreadableEvent
    ? new RebuildStopped(`The projector cannot go on: event ${failure.message}`)
    : new RebuildFailed(messageOf(failure));

/** Asks for new fillings; returns the last generation of each table that is not under way. */
async function requestRebuild(
  connection: Connection,
  tables: readonly AnyProjection[],
): Promise<ReadonlyMap<string, number>> {
  const generations = new Map<string, number>();
  await transaction(connection, async () => {
    const known = await readProjections(connection);
    for (const { name, version } of tables) {
      const ended = known.filter(
        (row) => row.name === name && row.version === version && row.status !== 'building',
      );
      generations.set(name, Math.max(-1, ...ended.map(({ generation }) => generation)));
      await connection.run(
        statements
          .updateTable('projection')
          .set({ rebuild_requested: true })
          .where((row) => row.and({ name, version, serving: true })),
      );
    }
    await connection.query(`notify ${controlChannel}`);
  });
  return generations;
}

async function areRebuilt(
  connection: Connection,
  tables: readonly AnyProjection[],
  before: ReadonlyMap<string, number>,
): Promise<boolean> {
  const rows = await readProjections(connection);
  return tables.every(({ name, version }) => {
    const own = rows.filter((row) => row.name === name && row.version === version);
    const isNew = ({ generation }: ProjectionRow) => generation > (before.get(name) ?? -1);
    const stopped = own.find((row) => isNew(row) && row.status === 'stopped');
    if (stopped) {
      const { stream, revision, message } = stopped.error ?? {};
      throw new RebuildStopped(`${name} stopped at event ${stream}@${revision}: ${message}`);
    }
    return own.some((row) => isNew(row) && row.serving);
  });
}

/** A projector is at work, so its tables cannot be thrown away. */
export class ProjectorActive extends Error {
  override readonly name = 'ProjectorActive';
  constructor() {
    super('A projector is active on this database. Stop it first.');
  }
}

/**
 * Throws all read models away, with the memory of the log that they came from: the next projector
 * fills them from whatever log it is connected to. Operational tables stay. This is how one goes
 * on after a log has been exchanged on purpose. Throws `ProjectorActive` while one is at work.
 */
export async function discardReadModel(database: string): Promise<void> {
  const connection = await connect(database, { application: 'counterfoil discard' });
  try {
    if (!(await tryProjectorLock(connection))) throw new ProjectorActive();
    await transaction(connection, async () => {
      for (const row of await readProjections(connection)) {
        await connection.query(`drop view if exists ${inSchema(row.name)}`);
        await connection.query(`drop table if exists ${inSchema(row.relation)} cascade`);
      }
      await connection.run(statements.deleteFrom('projection'));
      for (const row of await readFillings(connection)) await dropFilling(connection, row);
      await connection.run(
        statements.updateTable('projector').set({
          position: '0',
          event_position: null,
          event_stream: null,
          event_revision: null,
          event_hash: null,
          updated_at: transactionTime,
        }),
      );
      await forgetVerification(connection);
      await tellReaders(connection, allDiscarded);
    });
  } finally {
    await connection.close();
  }
}

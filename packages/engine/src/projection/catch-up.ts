import { batchwise } from '../consume/batchwise.ts';
import { transaction } from '../database/database.ts';
import { UnreadableEvent } from '../log/incoming-event.ts';
import { categoryPrefix } from '../log/stream-name.ts';
import type { EventStore, Position, StoredEvent } from '../log/types.ts';
import { joinProjector, moveTables } from './checkpoint.ts';
import { categoriesOf } from './fold.ts';
import { BatchWriter } from './fold-ahead.ts';
import type { LiveTables } from './live-tables.ts';
import type { BatchContext } from './table-change.ts';
import type { ActiveTable } from './table-registry.ts';

interface CatchUpOptions {
  readonly store: EventStore;
  /** Tables at one and the same position; those that stop are taken out. */
  readonly group: ActiveTable[];
  readonly batchMaximum: number;
  readonly signal: AbortSignal;
  readonly context: BatchContext;
  /** The tables to join. */
  readonly live: LiveTables;
  /** Runs work while the live tables stand still. */
  readonly exclusive: <Result>(work: () => Promise<Result>) => Promise<Result>;
  readonly onBatch: (events: number, seconds: number) => void;
}

/** After so many passes the live tables wait, however much there still is to read. */
const passesMaximum = 10;

/**
 * Brings tables that are behind (new ones, and those that were stopped) up to the live ones: with a
 * reader of their own and in turns with the live batches; the last stretch, which is short by
 * then, while the live tables stand still.
 */
export async function catchUp(options: CatchUpOptions): Promise<void> {
  const { group, exclusive, batchMaximum, live } = options;
  let position = group[0]?.position ?? 0n;
  for (let pass = 0; pass < passesMaximum && group.length > 0; pass += 1) {
    const target = live.position;
    const count = await readPass(options, position, target, exclusive);
    position = target;
    if (count < batchMaximum) break;
  }
  await exclusive(async () => {
    const target = live.position;
    await readPass(options, position, target, (work) => work());
    if (group.length === 0) return;
    await joinProjector(options.context.connection, target, group);
    for (const table of group) {
      table.position = target;
      live.add(table);
    }
    await live.promoteAll();
  });
}

/**
 * Projects the events after one position and up to another; returns their number. An event that cannot be
 * read stops the tables of the group there: the live ones have passed it, and go on.
 */
async function readPass(
  options: CatchUpOptions,
  after: Position,
  upTo: Position,
  run: CatchUpOptions['exclusive'],
): Promise<number> {
  const { store, group, batchMaximum, signal } = options;
  if (group.length === 0 || after >= upTo) return 0;
  const categories = categoriesOf(group.map(({ table }) => table));
  const prefixes = [...categories].map(categoryPrefix);
  let count = 0;
  const writer = batchWriter(options);
  // While Postgres is busy with a batch, the next one is folded, and the one after it read.
  const take = async (events: readonly StoredEvent[]) => {
    count += events.length;
    await run(() => writer.take(events));
  };
  const read = async () => {
    const events = store.readLog({ prefixes, after, upTo, signal });
    await batchwise(events, batchMaximum, take).finally(() => take([]));
  };
  const unreadable = await unreadableOf(read());
  // A read that was given up looks like one that came to its end.
  signal.throwIfAborted();
  if (unreadable) await run(() => stopGroup(options, unreadable));
  return count;
}

function batchWriter({ context, group, live, onBatch }: CatchUpOptions): BatchWriter<ActiveTable> {
  return new BatchWriter<ActiveTable>({
    context,
    targets: () => [...group],
    async finish(events, stopped) {
      await live.recordStopped(stopped);
      const going = group.filter((table) => !stopped.some(({ target }) => target === table));
      const position = events.at(-1)?.position;
      if (going.length === 0 || position === undefined) return;
      await moveTables(context.connection, position, going);
    },
    written({ events, stopped, seconds }) {
      for (const { target } of stopped) group.splice(group.indexOf(target), 1);
      for (const table of group) table.position = events.at(-1)?.position ?? table.position;
      live.reportStopped(stopped);
      onBatch(events.length, seconds);
    },
  });
}

/** The event that ended a reading because it cannot be read; null when it came to its end. */
async function unreadableOf(reading: Promise<void>): Promise<UnreadableEvent | null> {
  try {
    await reading;
    return null;
  } catch (error) {
    if (error instanceof UnreadableEvent) return error;
    throw error;
  }
}

/** Stops all tables of the group, each where it is, at an event that none of them can be given. */
async function stopGroup(
  { context, group, live }: CatchUpOptions,
  { stream, revision, reason }: UnreadableEvent,
): Promise<void> {
  const message = `it cannot be read: ${reason}`;
  const stopped = group.map((target) => ({
    target,
    reason: { message, stream, revision },
    lastGood: null,
  }));
  await transaction(context.connection, () => live.recordStopped(stopped));
  group.length = 0;
  live.reportStopped(stopped);
}

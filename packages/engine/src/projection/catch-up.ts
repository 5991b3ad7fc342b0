import { batchwise } from '../consume/batchwise.ts';
import { transaction } from '../database/database.ts';
import { UnreadableEvent } from '../log/incoming-event.ts';
import { categoryPrefix } from '../log/stream-name.ts';
import type { EventStore, Position, StoredEvent } from '../log/types.ts';
import { applyBatch, type Stopped } from './apply-batch.ts';
import { joinProjector, moveTables } from './checkpoint.ts';
import { categoriesOf } from './fold.ts';
import { foldAhead, writeFolded } from './fold-ahead.ts';
import type { LiveTables } from './live-tables.ts';
import type { BatchContext, TableChange } from './table-change.ts';
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
  let folded: FoldedBatch | null = null;
  // While Postgres is busy with a batch, the next one is folded, and the one after it read.
  const take = async (events: readonly StoredEvent[]) => {
    count += events.length;
    await run(async () => {
      // Nothing is written a second time when something fails.
      const current = folded;
      folded = null;
      folded = await writeAndFold(options, current, events);
    });
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

/** Events, with what the tables become by them where that could be folded before they are written. */
interface FoldedBatch {
  readonly events: readonly StoredEvent[];
  readonly changes: readonly TableChange[] | null;
}

/** Writes a batch, if there is one, and folds the events that follow it meanwhile; null when there are none. */
async function writeAndFold(
  options: CatchUpOptions,
  current: FoldedBatch | null,
  following: readonly StoredEvent[],
): Promise<FoldedBatch | null> {
  const { promise: isSent, resolve: sent } = Promise.withResolvers<void>();
  const writing = writeBatch(options, current, sent).finally(sent);
  const folding = isSent.then(() =>
    foldAhead(options.context, [...options.group], following, current?.changes ?? []),
  );
  await Promise.allSettled([writing, folding]);
  // What was folded onto rows that were not written as they were folded is worth nothing.
  const changes = (await writing) ? await folding : null;
  return following.length === 0 ? null : { events: following, changes };
}

/**
 * Writes a batch as it was folded, or else folds it in its turn. `sent` may be called before that has come to its end. False when
 * the tables are not as they were folded.
 */
async function writeBatch(
  { context, group, live, onBatch }: CatchUpOptions,
  batch: FoldedBatch | null,
  sent: () => void,
): Promise<boolean> {
  if (batch === null) return true;
  const { events, changes } = batch;
  const position = events.at(-1)?.position;
  if (position === undefined || group.length === 0) return true;
  const startedAt = performance.now();
  const finish = async (failed: readonly Stopped<ActiveTable>[]) => {
    await live.recordStopped(failed);
    const going = group.filter((table) => !failed.some(({ target }) => target === table));
    if (going.length > 0) await moveTables(context.connection, position, going);
  };
  const isWritten =
    changes !== null && (await writeFolded(context, changes, () => finish([]), sent));
  const stopped = isWritten ? [] : await applyBatch(context, group, events, finish);
  for (const { target } of stopped) group.splice(group.indexOf(target), 1);
  for (const table of group) table.position = position;
  live.reportStopped(stopped);
  onBatch(events.length, (performance.now() - startedAt) / 1_000);
  return isWritten || changes === null;
}

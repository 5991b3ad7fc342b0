import { transaction } from '../database/database.ts';
import { UnreadableEvent } from '../log/incoming-event.ts';
import { categoryPrefix } from '../log/stream-name.ts';
import type { EventStore, Position, StoredEvent } from '../log/types.ts';
import { applyBatch, type BatchContext } from './apply-batch.ts';
import { joinProjector, moveTables } from './checkpoint.ts';
import { categoriesOf } from './fold.ts';
import type { LiveTables } from './live-tables.ts';
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
  run: (work: () => Promise<void>) => Promise<void>,
): Promise<number> {
  const { store, group, batchMaximum, signal } = options;
  if (group.length === 0 || after >= upTo) return 0;
  const categories = categoriesOf(group.map(({ table }) => table));
  const prefixes = [...categories].map(categoryPrefix);
  let batch: StoredEvent[] = [];
  let count = 0;
  let applying = Promise.resolve();
  // The next events are read while Postgres is busy with these.
  const flush = async () => {
    const events = batch;
    batch = [];
    await applying;
    applying = run(() => applyEvents(options, events));
    // Whoever waits for it hears of it.
    applying.catch(() => undefined);
  };
  const read = async () => {
    try {
      for await (const event of store.readLog({ prefixes, after, upTo, signal })) {
        batch.push(event);
        count += 1;
        if (batch.length >= batchMaximum) await flush();
      }
    } finally {
      await Promise.allSettled([applying]);
    }
  };
  const unreadable = await unreadableOf(read());
  // A read that was given up looks like one that came to its end.
  signal.throwIfAborted();
  if (batch.length > 0) await flush();
  await applying;
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

async function applyEvents(
  { context, group, live, onBatch }: CatchUpOptions,
  events: readonly StoredEvent[],
): Promise<void> {
  const position = events.at(-1)?.position;
  if (position === undefined || group.length === 0) return;
  const startedAt = performance.now();
  const stopped = await applyBatch(context, group, events, async (failed) => {
    await live.recordStopped(failed);
    const going = group.filter((table) => !failed.some(({ target }) => target === table));
    if (going.length > 0) await moveTables(context.connection, position, going);
  });
  for (const { target } of stopped) group.splice(group.indexOf(target), 1);
  for (const table of group) table.position = position;
  live.reportStopped(stopped);
  onBatch(events.length, (performance.now() - startedAt) / 1_000);
}

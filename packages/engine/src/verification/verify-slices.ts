import { type Connection, connect, transaction } from '../database/database.ts';
import { readProjector } from '../projection/checkpoint.ts';
import { assertSameLog } from '../projection/log-identity.ts';
import { choose, type VerifyOptions, type VerifyReport } from './verify.ts';
import { countRows } from './verify-memory.ts';
import { compareAll, createExamined, deriveAll, type Examined } from './verify-scratch.ts';

/** A slice of fewer events is the last that is folded before the snapshot. */
const shortSlice = 2_000;
/** However fast the log grows, the copies are level enough after so many slices. */
const slicesMaximum = 8;

export type SliceOptions = Pick<
  VerifyOptions,
  'store' | 'database' | 'tables' | 'batchMaximum' | 'pace' | 'signal'
>;

/**
 * Compares the read models with the log as `verifyReadModel` does, for as long as it may take: the log is
 * folded into temporary tables, in short transactions, while everything keeps running. Only the last events, and
 * the comparison itself, are in one snapshot of the database, because as long as there is one Postgres
 * cannot clean up in any table. The copies take as much room as the read models.
 *
 * Throws `ForeignLog` when the read models come from another log, and `UnreadableEvent` when it cannot be
 * read to its end.
 */
export async function verifyInSlices(options: SliceOptions): Promise<VerifyReport> {
  const connection = await connect(options.database, { application: 'counterfoil verify' });
  try {
    const { compared } = await choose(connection, options.tables);
    const examined = await createExamined(connection, compared);
    const events = await fillSlices(connection, examined, options);
    for (const { relation } of examined) await connection.query(`analyze ${relation}`);
    await connection.query('begin isolation level repeatable read');
    return await compareSnapshot(connection, examined, { ...options, events });
  } finally {
    // Ends the transaction and drops the temporary tables.
    await connection.close();
  }
}

/** Folds the log slice by slice, each up to where the tables then are; returns the number of events. */
async function fillSlices(
  connection: Connection,
  examined: readonly Examined[],
  { pace, ...options }: SliceOptions,
): Promise<number> {
  let events = 0;
  for (let slice = 0; slice < slicesMaximum; slice += 1) {
    const read = await deriveAll(connection, examined, {
      ...options,
      around: async (apply, count) => {
        await transaction(connection, apply);
        await pace?.(count);
      },
    });
    events += read;
    if (read < shortSlice) break;
    await moveOn(connection, examined, options);
  }
  return events;
}

/** Finds out where the tables are now. One that readers see no more cannot be compared any more. */
async function moveOn(
  connection: Connection,
  examined: readonly Examined[],
  { tables }: Pick<SliceOptions, 'tables'>,
): Promise<Awaited<ReturnType<typeof choose>>['skipped']> {
  const { compared, skipped } = await choose(connection, tables);
  for (const table of examined) {
    const now = compared.find(({ original }) => original === table.original);
    if (now) table.upTo = now.upTo;
    else table.failure ??= 'readers have got another version of it meanwhile';
  }
  const late = compared.filter(
    ({ original }) => !examined.some((each) => each.original === original),
  );
  const reason = 'readers have got it only now';
  return [...skipped, ...late.map(({ table }) => ({ table: table.name, reason }))];
}

async function compareSnapshot(
  connection: Connection,
  examined: readonly Examined[],
  options: SliceOptions & { readonly events: number },
): Promise<VerifyReport> {
  const { position, mark } = await readProjector(connection);
  await assertSameLog(options.store, mark);
  const skipped = await moveOn(connection, examined, options);
  const events = options.events + (await deriveAll(connection, examined, options));
  const { differences, truncated, failed } = await compareAll(connection, examined, {});
  const names = new Set(skipped.map(({ table }) => table));
  let rows = 0;
  for (const { table, failure } of examined) {
    if (failure === null) rows += await countRows(connection, { table });
  }
  return {
    position,
    events,
    rows,
    differences,
    truncated,
    skipped: [...skipped, ...failed.filter(({ table }) => !names.has(table))],
    inDoubt: [],
  };
}

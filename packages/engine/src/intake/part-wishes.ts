import type { Connection } from '../database/database.ts';
import { statements, transactionTime } from '../database/statements.ts';
import { fillingsChannel } from './filling-record.ts';

/** The name of the lock that whoever changes parts takes alone, and those who compare them share. */
export const partsLock = (name: string): string => `counterfoil parts ${name}`;

/** The fate that somebody wishes for a part. */
export type PartWish = 'kept' | 'dropped';

/** A wish, and the reason why the last try to carry it out failed. */
export interface PartRow {
  readonly wish: PartWish;
  readonly problem: string | null;
}

/** The wishes for the parts of some tables, by the name of the part. */
export async function readPartWishes(
  connection: Connection,
  name: string,
): Promise<ReadonlyMap<string, PartRow>> {
  const { rows } = await connection.run(
    statements.selectFrom('fact_part').select(['part', 'wish', 'problem']).where('name', '=', name),
  );
  return new Map(rows.map(({ part, wish, problem }) => [part, { wish, problem }]));
}

/** Wishes that parts are kept or dropped, whatever was wished before, and tells those who fill. */
export async function wishParts(
  connection: Connection,
  name: string,
  parts: readonly string[],
  wish: PartWish,
): Promise<void> {
  await connection.run(
    statements
      .insertInto('fact_part')
      .values(parts.map((part) => ({ name, part, wish })))
      .onConflict((known) =>
        known
          .columns(['name', 'part'])
          .doUpdateSet({ wish, problem: null, asked_at: transactionTime }),
      ),
  );
  await connection.query(`notify ${fillingsChannel}`);
}

/** Wishes that parts are dropped of which nobody has said that they are to be kept. */
export async function retireParts(
  connection: Connection,
  name: string,
  parts: readonly string[],
): Promise<void> {
  if (parts.length === 0) return;
  await connection.run(
    statements
      .insertInto('fact_part')
      .values(parts.map((part) => ({ name, part, wish: 'dropped' as const })))
      .onConflict((known) => known.columns(['name', 'part']).doNothing()),
  );
}

/** Notes why a wish could not be carried out; null: nothing is in the way any more. */
export const notePartProblem = (
  connection: Connection,
  name: string,
  part: string,
  problem: string | null,
): Promise<unknown> =>
  connection.run(
    statements
      .updateTable('fact_part')
      .set({ problem })
      .where((row) => row.and({ name, part })),
  );

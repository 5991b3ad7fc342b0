import { setTimeout as delay } from 'node:timers/promises';
import { type Connection, connect, transaction } from '../database/database.ts';
import { statements } from '../database/statements.ts';
import type { AnyFactTables } from '../define/intake.ts';
import { fillingsChannel, readFillings } from './filling-record.ts';
import { type FillingsOptions, startFillings } from './fillings.ts';

const pollMilliseconds = 200;

/**
 * Has the tables of intakes filled again from the start of the log, beside the ones that readers see, and resolves
 * when readers see the new ones. The process that fills does the work; this one does it when there is none.
 */
export async function rebuildFacts(options: FillingsOptions): Promise<void> {
  const { database, tables } = options;
  const connection = await connect(database, { application: 'counterfoil rebuild' });
  try {
    const before = new Map<AnyFactTables, string>();
    for (const one of tables) before.set(one, await servingFilling(connection, one));
    for (const one of tables) await request(connection, one);
    const fillings = startFillings(options);
    try {
      for (const one of tables) {
        while ((await servingFilling(connection, one)) === before.get(one)) {
          await delay(pollMilliseconds);
        }
      }
    } finally {
      await fillings.stop();
    }
  } finally {
    await connection.close();
  }
}

const request = (connection: Connection, { name, version }: AnyFactTables): Promise<void> =>
  transaction(connection, async () => {
    await connection.run(
      statements
        .updateTable('filling')
        .set({ rebuild_requested: true })
        .where((row) => row.and({ name, version, serving: true })),
    );
    await connection.query(`notify ${fillingsChannel}`);
  });

async function servingFilling(connection: Connection, { name }: AnyFactTables): Promise<string> {
  const row = (await readFillings(connection)).find((one) => one.name === name && one.serving);
  return row ? `${row.version} ${row.generation}` : '';
}

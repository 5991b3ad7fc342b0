import { setTimeout as delay } from 'node:timers/promises';
import { type Connection, connect, transaction } from '../database/database.ts';
import type { AnyFactTables, FactPart } from '../define/intake.ts';
import { fillSession } from './fill-session.ts';
import { quotedSchema, readFillings } from './filling-record.ts';
import { type FillingsOptions, startFillings } from './fillings.ts';
import { type PartWish, readPartWishes, wishParts } from './part-wishes.ts';

/** A part of the tables that readers see, and what is wished of it. */
export interface ShownPart extends FactPart {
  /** Null while nobody has wished anything. */
  readonly wish: PartWish | null;
  /** The reason why the last try to carry out the wish failed. */
  readonly problem: string | null;
  /** The size of the table of its facts with its indexes; 0 for one that is dropped. */
  readonly bytes: bigint;
}

/** The parts of the tables of an intake that readers see, in the order of time; null while readers see none of this version. */
export async function shownParts(
  database: string,
  tables: AnyFactTables,
): Promise<readonly ShownPart[] | null> {
  const connection = await connect(database, { application: 'counterfoil parts' });
  try {
    return await partsOver(connection, tables);
  } finally {
    await connection.close();
  }
}

async function partsOver(
  connection: Connection,
  { name, version, parts }: AnyFactTables,
): Promise<readonly ShownPart[] | null> {
  const row = (await readFillings(connection)).find(
    (one) => one.name === name && one.version === version && one.serving,
  );
  if (!row || !parts) return null;
  const schema = quotedSchema(row);
  const listed = await parts.list(fillSession(connection, schema));
  const wishes = await readPartWishes(connection, name);
  const { rows } = await connection.query<{ readonly relation: string; readonly bytes: string }>(
    `select relation, coalesce(pg_total_relation_size(to_regclass($1 || '.' || relation)), 0) as bytes
       from unnest($2::text[]) as listed (relation)`,
    [schema, listed.map(({ relation }) => relation)],
  );
  const bytes = new Map(rows.map((one) => [one.relation, BigInt(one.bytes)]));
  return listed.map((part) => ({
    ...part,
    wish: wishes.get(part.name)?.wish ?? null,
    problem: wishes.get(part.name)?.problem ?? null,
    bytes: bytes.get(part.relation) ?? 0n,
  }));
}

export interface AskPartsOptions extends Omit<FillingsOptions, 'tables' | 'retention'> {
  readonly tables: AnyFactTables;
  readonly names: readonly string[];
  readonly wish: PartWish;
  /** Told why it takes longer, each reason once. */
  readonly onProblem: (part: string, problem: string) => void;
}

const pollMilliseconds = 200;

/**
 * Has parts of tables dropped, or filled again, and resolves when it is done. The process that fills does the work; this one
 * does it when there is none. A part that is filled again on request stays, however old it is, until it is dropped on
 * request.
 */
export async function askParts(options: AskPartsOptions): Promise<void> {
  const { tables, names, wish, database, onProblem, ...others } = options;
  const connection = await connect(database, { application: 'counterfoil parts' });
  try {
    await transaction(connection, () => wishParts(connection, tables.name, names, wish));
    const fillings = startFillings({ ...others, database, tables: [tables] });
    const told = new Set<string>();
    try {
      for (;;) {
        const parts = ((await partsOver(connection, tables)) ?? []).filter(({ name }) =>
          names.includes(name),
        );
        const isDone = ({ isDropped }: FactPart): boolean => isDropped === (wish === 'dropped');
        if (parts.length > 0 && parts.every(isDone)) return;
        for (const { name, problem } of parts) {
          if (problem === null || told.has(`${name} ${problem}`)) continue;
          told.add(`${name} ${problem}`);
          onProblem(name, problem);
        }
        await delay(pollMilliseconds);
      }
    } finally {
      await fillings.stop();
    }
  } finally {
    await connection.close();
  }
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Connection, connect } from '@counterfoil/engine';
import type { FactReads, FillSession, RequestContext } from '@counterfoil/engine/define';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { startPostgres } from '@counterfoil/local';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import { usageTables } from '../tables.ts';

const reader = 'usage_reader';

const statements = new Kysely<Record<string, object>>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** The tables of usage in a schema of a real database. */
export interface TestTables {
  readonly session: FillSession;
  /** A context that reads them as the environment may. */
  readonly context: (environmentId: string) => RequestContext;
  drop(): Promise<void>;
}

/** A database of a test. */
export interface TestDatabase {
  readonly writer: Connection;
  tables(schema: string): Promise<TestTables>;
  close(): Promise<void>;
}

/** Starts a PostgreSQL of its own. */
export async function startTestDatabase(): Promise<TestDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'counterfoil-usage-'));
  const postgres = await startPostgres({ directory, durable: false });
  const writer = await connect(postgres.url, { application: 'test', copies: true });
  const reading = await connect(postgres.url, { application: 'test' });
  await writer.query(`create role ${reader} nologin`);
  await writer.query(`grant ${reader} to current_user`);
  return {
    writer,
    tables: (schema) => createTables(writer, reading, schema),
    async close() {
      await reading.close();
      await writer.close();
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function createTables(
  writer: Connection,
  reading: Connection,
  schema: string,
): Promise<TestTables> {
  await writer.query(`create schema ${schema}`);
  await writer.query(`grant usage on schema ${schema} to ${reader}`);
  for (const text of usageTables.create(schema, reader)) await writer.query(text);
  const facts = (environmentId: string) => async (_: unknown, select: Select) => {
    const { sql: text, parameters } = select(statements.withSchema(schema)).compile();
    await reading.query(
      `select set_config('role', '${reader}', false), set_config('counterfoil.environment', $1, false)`,
      [environmentId],
    );
    return (await reading.query(text, parameters)).rows;
  };
  return {
    session: {
      schema,
      query: (text, values = []) => writer.query(text, values, { prepared: values.length > 0 }),
      copy: (relation, columns, lines) =>
        writer.copy(`copy ${schema}.${relation} (${columns.join(', ')}) from stdin`, lines),
    },
    context: (environmentId) => {
      const query = facts(environmentId);
      const ask: FactReads['ask'] = async ({ tables, write }, given) =>
        (await query(tables, (from) => write(from as never, given) as never)) as never;
      const reads = {
        facts: { query, queryAtOnce: query, ask, shown: async () => '0', filling: () => schema },
        principal: { environmentId },
      };
      return reads as unknown as RequestContext;
    },
    drop: async () => {
      await writer.query(`drop schema ${schema} cascade`);
    },
  };
}

type Select = (from: object) => {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] };
};

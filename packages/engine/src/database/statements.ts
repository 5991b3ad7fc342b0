import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import { schemaName } from './database.ts';
import type { EngineTables } from './schema.ts';

/**
 * Returns a builder of statements on these tables of the schema `counterfoil`. It runs none: they
 * go over a `Connection`, or over a session that is bound to a tenant.
 */
export const statementsOn = <Tables>(): Kysely<Tables> =>
  new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }).withSchema(schemaName);

/** Statements on the engine's own tables. */
export const statements = statementsOn<EngineTables>();

/** The instant at which the transaction began, by the clock of the database. */
export const transactionTime = sql<string>`now()`;

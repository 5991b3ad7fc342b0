export { type Connection, connect, schemaName, transaction } from './database.ts';
export { isUnavailable, sqlState } from './database-errors.ts';
export { type ListeningSession, listeningSession } from './listening-session.ts';
export { type Migration, migrate } from './migrate.ts';
export type * from './schema.ts';
export {
  type GivenColumn,
  type GivenColumns,
  given,
  literals,
  parameter,
  planByIndex,
  statementsOn,
  statementText,
  transactionTime,
  writtenFor,
  writtenOnce,
} from './statements.ts';

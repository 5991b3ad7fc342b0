export { type Connection, connect, type Database, transaction } from './database.ts';
export { type Migration, type Migrations, type MigrationTransaction, migrate } from './migrate.ts';

import { type Kysely, type Migration, type MigrationProvider, Migrator, sql } from 'kysely';
import { ensureReaderRole } from '../query/reader-role.ts';
import { type Connection, connect, schemaName } from './database.ts';
import { engineMigrations } from './engine-migrations.ts';
import { openKysely, statements } from './statements.ts';

export type { Migration } from 'kysely';

/**
 * Changes of operational tables, by name: `<module>_<number>_<what>`. Read models have none, they
 * have versions. A migration must find its tables in the schema `counterfoil` and names it.
 */
export type Migrations = Readonly<Record<string, Migration>>;

interface MigrateOptions {
  readonly database: string;
  /** Those of the modules; the engine's own always come first. */
  readonly migrations?: Migrations;
}

/** `security_invoker` views came with this version. */
const postgresMinimum = 150_000;
const migrationLock = 'counterfoil migrations';
const migrationName = /^[a-z][a-z_]*_\d{4}_[a-z0-9_]+$/;
/** Another process may be migrating; that may take a while, but not for ever. */
const lockTimeoutMs = 10 * 60_000;

/**
 * Brings the schema up to date: runs every migration that has not run yet, each in its own order
 * within its module. Several processes may do this at once; one works, the others wait and
 * find it done. Returns the names of the migrations that this call ran.
 */
export async function migrate({ database, migrations = {} }: MigrateOptions): Promise<string[]> {
  const all = { ...engineMigrations, ...migrations };
  for (const name of Object.keys(all)) {
    if (!migrationName.test(name)) {
      throw new TypeError(`migration ${name} must be named <module>_<4 digits>_<what>`);
    }
  }
  const connection = await connect(database, { application: 'counterfoil migrate' });
  try {
    await assertVersion(connection);
    const lock = sql`pg_advisory_lock(hashtextextended(${migrationLock}, 0))`;
    await connection.run(statements.selectNoFrom(lock.as('locked')), { timeoutMs: lockTimeoutMs });
    await connection.query(`create schema if not exists ${schemaName}`);
    await ensureReaderRole(connection);
    return await runMigrations(database, all);
  } finally {
    // The lock ends with the session.
    await connection.close();
  }
}

async function assertVersion(connection: Connection): Promise<void> {
  const setting = sql<string>`current_setting('server_version_num')`;
  const { rows } = await connection.run(statements.selectNoFrom(setting.as('version')));
  const version = Number(rows[0]?.version);
  if (version < postgresMinimum) {
    throw new Error(`PostgreSQL 15 or later is needed; this server says ${version}.`);
  }
}

/** The migrations by module, the engine's own first. Modules number theirs independently. */
function byModule(migrations: Migrations): [string, Migrations][] {
  const groups = new Map<string, Record<string, Migration>>([['engine', {}]]);
  for (const name of Object.keys(migrations).sort()) {
    const module = name.slice(0, name.search(/_\d{4}_/));
    const group = groups.get(module) ?? {};
    groups.set(module, Object.assign(group, { [name]: migrations[name] }));
  }
  return [...groups];
}

async function runMigrations(database: string, migrations: Migrations): Promise<string[]> {
  const kysely = openKysely<unknown>(database, 2);
  const ran: string[] = [];
  try {
    for (const [module, group] of byModule(migrations)) {
      ran.push(...(await runModule(kysely, module, group)));
    }
  } finally {
    await kysely.destroy();
  }
  return ran;
}

/**
 * Runs the migrations of one module. Each module has its own record of what has run, so that a
 * program that knows only some of the modules does not think that the others' migrations are lost.
 */
async function runModule(
  kysely: Kysely<unknown>,
  module: string,
  migrations: Migrations,
): Promise<string[]> {
  const provider: MigrationProvider = { getMigrations: async () => ({ ...migrations }) };
  const migrator = new Migrator({
    db: kysely,
    provider,
    migrationTableSchema: schemaName,
    migrationTableName: `migration_${module}`,
    migrationLockTableName: `migration_${module}_lock`,
  });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error) throw error;
  return results.filter(({ status }) => status === 'Success').map((one) => one.migrationName);
}

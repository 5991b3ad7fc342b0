import { type Connection, schemaName } from '../database/database.ts';
import { sqlState } from '../database/database-errors.ts';
import { readerRole } from '../projection/table-shape.ts';

// Roles, rights and the catalogue of the server are text: the builder has no words for them.
const insufficientPrivilege = '42501';
const duplicateObject = '42710';
const uniqueViolation = '23505';

/** Postgres does not let our user make the role that row-level security needs. */
export class ReaderRoleMissing extends Error {
  override readonly name = 'ReaderRoleMissing';
  constructor(user: string, cause: unknown) {
    super(
      `The Postgres user ${user} cannot create or join the role ${readerRole}, under which the ` +
        'api reads. Let an administrator run: ' +
        `create role ${readerRole} nologin; grant ${readerRole} to "${user}";`,
      { cause },
    );
  }
}

/**
 * Makes sure that the role of the readers exists, that this user may take it on, and that it may
 * look into the schema. Roles belong to the whole server, so it may be there from elsewhere.
 * Throws `ReaderRoleMissing`, which says what an administrator has to do.
 */
export async function ensureReaderRole(connection: Connection): Promise<void> {
  // Since version 16, membership alone does not allow to take a role on.
  const { rows } = await connection.query<{ user: string; exists: boolean; member: boolean }>(
    `select current_user as user,
            exists (select from pg_roles where rolname = $1) as exists,
            coalesce((select pg_has_role(current_user, oid,
                               case when current_setting('server_version_num')::int >= 160000
                                    then 'set' else 'member' end)
                        from pg_roles where rolname = $1), false) as member`,
    [readerRole],
  );
  const user = rows[0]?.user ?? '';
  try {
    if (!rows[0]?.exists) await createRole(connection);
    if (!rows[0]?.member) await connection.query(`grant ${readerRole} to current_user`);
  } catch (error) {
    if (sqlState(error) === insufficientPrivilege) throw new ReaderRoleMissing(user, error);
    throw error;
  }
  await connection.query(`grant usage on schema ${schemaName} to ${readerRole}`);
}

async function createRole(connection: Connection): Promise<void> {
  try {
    await connection.query(`create role ${readerRole} nologin nobypassrls`);
  } catch (error) {
    // Another database of this server was set up at the same moment.
    const state = sqlState(error);
    if (state !== duplicateObject && state !== uniqueViolation) throw error;
  }
}

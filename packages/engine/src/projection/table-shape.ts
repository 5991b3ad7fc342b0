import { type AnyAggregate, BrokenInvariant, hashOf, invariant } from '@counterfoil/kernel';
import { schemaName } from '../database/database.ts';
import type { AnyProjection, ColumnType } from '../define/projection.ts';
import { assertMembers, heldColumns, resourceExpression } from './held-members.ts';

/** The role under which the api reads. It owns nothing, so row-level security binds it. */
export const readerRole = 'counterfoil_reader';

/** Postgres type by which each fixed column of a read table is written. */
export const fixedColumns = {
  id: 'text',
  tenant_id: 'text',
  environment_id: 'text',
  status: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  revision: 'bigint',
  position: 'bigint',
  // json, not jsonb: the resource must leave the API exactly as `view` made it, and jsonb would
  // re-order its members, and refuses U+0000 in strings. It is also cheaper to write.
  state: 'json',
  resource: 'json',
  // A copy for filters alone, which json has no operators for.
  metadata: 'jsonb',
} as const;

/** The columns of a read table in the order in which rows are written. */
export const columnNames = (table: AnyProjection): readonly string[] => [
  ...Object.keys(fixedColumns),
  ...Object.keys(table.columns),
  ...heldColumns(table).map(([name]) => name),
];

/** The Postgres type of a declared column. */
export const databaseType = (type: ColumnType): string => (type === 'integer' ? 'bigint' : type);

/** Byte order, whatever the server's locale: the same order on every machine and the fastest. */
const collated = (type: string): string => (type.startsWith('text') ? `${type} collate "C"` : type);

const nameShape = /^[a-z][a-z0-9_]{0,39}$/;

/** An identifier in quotes. Throws on anything but lower case letters, digits and underscore. */
export function quoted(name: string): string {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(name)) throw new BrokenInvariant(`${name} is no table name`);
  return `"${name}"`;
}

/** The physical table of a version. A rebuild of the same version is its next generation. */
export const relationName = (table: AnyProjection, generation: number): string =>
  `${table.name}_v${table.version}${generation === 0 ? '' : `_g${generation}`}`;

/** A table or view of our schema, ready for a statement. */
export const inSchema = (name: string): string => `${quoted(schemaName)}.${quoted(name)}`;

/** Returns the scope of a projection's rows: an environment, or the tenant as a whole. */
export function scopeOf({ name, aggregates }: AnyProjection): AnyAggregate['scope'] {
  const [first] = aggregates;
  invariant(first, `projection ${name} folds no aggregate`);
  return first.scope;
}

/**
 * The column whose value a row belongs to: a row is found by it and its id. Ids of environments
 * and tenants are unique as such, so two of them can never meet in one row, whatever the key.
 */
export const scopeColumn = (table: AnyProjection): 'environment_id' | 'tenant_id' =>
  scopeOf(table) === 'environment' ? 'environment_id' : 'tenant_id';

/** Throws `BrokenInvariant` on names that cannot be a table's or a column's, and on two scopes. */
export function assertProjection(table: AnyProjection): void {
  if (!nameShape.test(table.name)) throw new BrokenInvariant(`${table.name} is no table name`);
  if (!Number.isSafeInteger(table.version) || table.version < 1) {
    throw new BrokenInvariant(`projection ${table.name}: version must be an integer from 1 on`);
  }
  if (table.aggregates.some(({ scope }) => scope !== scopeOf(table))) {
    throw new BrokenInvariant(`projection ${table.name} folds aggregates of two scopes`);
  }
  assertMembers(table);
  for (const column of [...Object.keys(table.columns), ...Object.keys(table.members ?? {})]) {
    if (!nameShape.test(column)) throw new BrokenInvariant(`${column} is no column name`);
  }
  for (const column of Object.keys(table.columns)) {
    if (column in fixedColumns) {
      throw new BrokenInvariant(`projection ${table.name}: every table has a column ${column}`);
    }
  }
}

/** Fingerprint of what the table looks like in Postgres: a change needs a new version. */
export const shapeOf = (table: AnyProjection): string =>
  hashOf({
    scope: scopeOf(table),
    columns: Object.entries(table.columns).map(([name, { type, index, listed, often }]) => [
      name,
      type,
      index ?? false,
      listed ?? false,
      often ?? false,
    ]),
    ...(table.members ? { members: Object.entries(table.members) } : {}),
  });

/**
 * The columns with their types, those that change often side by side. The log of PostgreSQL leaves out the
 * bytes at the beginning and at the end of a row that an update in its page did not change.
 */
function columnTypes(table: AnyProjection): readonly (readonly [name: string, type: string])[] {
  const declared = Object.entries(table.columns).map(([name, { type, often = false }]) => ({
    often,
    column: [name, databaseType(type)] as const,
  }));
  const {
    updated_at,
    revision,
    position,
    state: _state,
    resource: _resource,
    ...stable
  } = fixedColumns;
  const moving = [
    ...Object.entries({ updated_at, revision, position }),
    ...declared.filter(({ often }) => often).map(({ column }) => column),
  ];
  const [before, behind] = table.members ? ['state', 'resource'] : ['resource', 'state'];
  return [
    ...Object.entries(stable),
    ...declared.filter(({ often }) => !often).map(({ column }) => column),
    ...heldColumns(table).map(([name, type]) => [name, databaseType(type)] as const),
    [before, 'json'],
    ...moving,
    [behind, 'json'],
  ];
}

const columnDefinitions = (table: AnyProjection): string[] => {
  const required = new Set<string>([
    'id',
    'tenant_id',
    scopeColumn(table),
    'created_at',
    'updated_at',
    'revision',
    'position',
  ]);
  return columnTypes(table).map(
    ([name, type]) => `${quoted(name)} ${collated(type)}${required.has(name) ? ' not null' : ''}`,
  );
};

/** Makes a scratch copy of the table, of this session alone: no indexes but the key, no policies. */
export const createScratch = (table: AnyProjection, name: string): string =>
  `create temporary table ${quoted(name)} (${[
    ...columnDefinitions(table),
    `primary key (${scopeColumn(table)}, id)`,
  ].join(', ')})`;

/**
 * The statements that make an empty table with its indexes, its row-level security and the right
 * of the api's role to read it.
 */
export function createRelation(table: AnyProjection, relation: string): string[] {
  const name = inSchema(relation);
  const scope = scopeColumn(table);
  const listed = listedColumns(table).map(quoted).join(', ');
  const indexes = Object.entries(table.columns)
    .filter(([, { index }]) => index)
    .map(([column, { type }]) =>
      type === 'text[]'
        ? `create index on ${name} using gin (${quoted(column)})`
        : // In the order of time, so that a page of what the filter leaves need not be sorted.
          `create index on ${name} (${scope}, ${quoted(column)}, created_at, id)
             include (${listed})`,
    );
  return [
    // Room in each page keeps most updates off the indexes. Reads by the index alone need pages
    // that vacuum has seen, so added rows are looked at soon, not only when it is a fifth of the
    // table.
    `create table ${name} (${[...columnDefinitions(table), `primary key (${scope}, id)`].join(
      ', ',
    )}) with (fillfactor = 85, autovacuum_vacuum_insert_scale_factor = 0.02)`,
    // Lists, newest first, read indexes backwards. What is new stands at the end of an index that rises with
    // time: its pages are filled one after the other, and not split in halves that PostgreSQL's log repeats.
    `create index on ${name} (${scope}, created_at, id) include (${listed})`,
    ...indexes,
    `alter table ${name} enable row level security`,
    `create policy tenant_and_environment on ${name} for select to ${readerRole} using (${policy(table)})`,
    `grant select (${shownColumns(table)}) on ${name} to ${readerRole}`,
  ];
}

/**
 * Lists the columns that every list looks at. They are kept beside the keys of each index, so that
 * rows are counted, and skipped to come to a page, by the index alone. The rows themselves are many
 * times as large.
 */
const listedColumns = (table: AnyProjection): readonly string[] => [
  ...(scopeColumn(table) === 'tenant_id' ? [] : ['tenant_id']),
  'status',
  ...Object.entries(table.columns)
    .filter(([, { listed }]) => listed)
    .map(([name]) => name),
];

/**
 * Lists the columns that readers see: everything but the folded state, which may hold data that is
 * shown to nobody.
 */
const shownColumns = (table: AnyProjection): string => readColumns(table).map(quoted).join(', ');

const readColumns = (table: AnyProjection): readonly string[] =>
  columnNames(table).filter((column) => column !== 'state');

/**
 * The settings by which a session of the api names the tenant and environment that it reads for.
 */
export const scopeSettings = {
  tenant: 'counterfoil.tenant',
  environment: 'counterfoil.environment',
} as const;

// The sub-select makes Postgres ask for the setting once per statement, not once per row.
const setting = (name: string): string => `(select current_setting('${name}', true))`;

const policy = (table: AnyProjection): string =>
  [
    `tenant_id = ${setting(scopeSettings.tenant)}`,
    ...(scopeOf(table) === 'environment'
      ? [`environment_id = ${setting(scopeSettings.environment)}`]
      : []),
  ].join(' and ');

/** The query of the view of the table's name, over a relation that is ready for a statement. */
export const viewQuery = (table: AnyProjection, relation: string): string =>
  `select ${readColumns(table)
    .map((name) =>
      name === 'resource' ? `${resourceExpression(table)} as resource` : quoted(name),
    )
    .join(', ')} from ${relation}`;

/** The statements that point the view of the table's name at a relation. */
export const pointView = (table: AnyProjection, relation: string): string[] => [
  `drop view if exists ${inSchema(table.name)}`,
  // The invoker's rights: otherwise the view would read as its owner, past row-level security.
  `create view ${inSchema(table.name)} with (security_invoker = true)
     as ${viewQuery(table, inSchema(relation))}`,
  `grant select on ${inSchema(table.name)} to ${readerRole}`,
];

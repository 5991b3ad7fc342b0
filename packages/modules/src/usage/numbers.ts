import { type FactSelect, factStatement, type GivenValues } from '@counterfoil/engine/define';
import { type RawBuilder, sql } from 'kysely';
import type { UsageTables } from './table-definitions.ts';
import { usageTables } from './tables.ts';
import type { UsageOf } from './usage-of.ts';
import type { UsageReads } from './usage-reads.ts';

/** The tables, as a statement finds them. */
export type From = Parameters<FactSelect<UsageTables, unknown>>[0];

/** The values by which a statement finds usage. */
export interface GivenPlace extends GivenValues {
  readonly environment: string;
  /** The id of a customer, those of several, or an external id; of no meaning where all are wanted. */
  readonly customer: string | readonly string[];
  /** The numbers of the accounts, for a statement that is given these. */
  readonly accounts?: readonly string[];
}

export type CustomerKind = UsageOf['customer']['kind'];

/** The values for a statement about usage. */
export const givenPlace = (environmentId: string, customer: UsageOf['customer']): GivenPlace => ({
  environment: environmentId,
  customer: whoseIds(customer),
});

function whoseIds(customer: UsageOf['customer']): GivenPlace['customer'] {
  switch (customer.kind) {
    case 'all':
      return '';
    case 'customers':
      return customer.ids;
    case 'customer':
    case 'external':
      return customer.id;
    default:
      return customer satisfies never;
  }
}

/** The number of the environment, which is looked up once. */
export const environmentOf = (from: From, { environment }: Pick<GivenPlace, 'environment'>) =>
  from
    .selectFrom('environment')
    .select('environment.number')
    .where('environment.environment_id', '=', environment);

/** The accounts of a customer, of several, or those of an external id that nobody has yet. */
export const accountsOf = (
  from: From,
  kind: Exclude<CustomerKind, 'all'>,
  given: Pick<GivenPlace, 'environment' | 'customer'>,
) => {
  const accounts = from
    .selectFrom('account')
    .where('account.environment', '=', environmentOf(from, given));
  switch (kind) {
    case 'customer':
      return accounts.where(sql<boolean>`account.customer_id = ${given.customer}`);
    case 'customers':
      return accounts.where(sql<boolean>`account.customer_id = any(${given.customer}::text[])`);
    case 'external':
      return accounts
        .where(sql<boolean>`account.external_id = ${given.customer}`)
        .where('account.customer_id', 'is', null);
    default:
      return kind satisfies never;
  }
};

/** The condition that a row is of one of the accounts that are wanted: their numbers are given, or looked up once. */
export function isWanted(
  from: From,
  kind: CustomerKind | 'accounts',
  account: string,
  given: GivenPlace,
): RawBuilder<boolean> {
  if (kind === 'all') return sql<boolean>`true`;
  if (kind === 'accounts') return isOneOf(account, sql`${given.accounts}`);
  const numbers = accountsOf(from, kind, given).select('account.number');
  return isOneOf(account, sql`array(${numbers})`);
}

const isOneOf = (account: string, numbers: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(account)} = any(${numbers}::bigint[])`;

const accountNumbersOf = ofShapes((kind: Exclude<CustomerKind, 'all'>) =>
  factStatement(usageTables, (from, given: GivenPlace) =>
    accountsOf(from, kind, given).select('account.number'),
  ),
);

/**
 * The numbers of the accounts that are wanted; null for all. PostgreSQL knows of a large account how large it is, but
 * not of one that a statement has yet to look up.
 */
export async function accountNumbers(
  { facts, principal }: UsageReads,
  customer: UsageOf['customer'],
): Promise<readonly string[] | null> {
  if (customer.kind === 'all') return null;
  const place = givenPlace(principal.environmentId, customer);
  const rows = await facts.ask(accountNumbersOf(customer.kind), place);
  return rows.map(({ number }) => number);
}

/** Gives the statement of each shape, which is made when it is first asked for. */
export function ofShapes<Shape extends readonly (string | number | boolean)[], Statement>(
  make: (...shape: Shape) => Statement,
): (...shape: Shape) => Statement {
  const made = new Map<string, Statement>();
  return (...shape) => {
    const name = shape.join(' ');
    const known = made.get(name);
    if (known !== undefined) return known;
    const statement = make(...shape);
    made.set(name, statement);
    return statement;
  };
}

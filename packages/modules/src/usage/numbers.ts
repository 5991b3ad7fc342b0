import type { FactSelect, GivenValues } from '@counterfoil/engine/define';
import { sql } from 'kysely';
import type { UsageOf } from './queries.ts';
import type { UsageTables } from './table-definitions.ts';

/** The tables, as a statement finds them. */
export type From = Parameters<FactSelect<UsageTables, unknown>>[0];

/** The values by which a statement finds usage. */
export interface GivenPlace extends GivenValues {
  readonly environment: string;
  /** The id of a customer, those of several, or an external id; of no meaning where all are wanted. */
  readonly customer: string | readonly string[];
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

/** The condition that a row is of one of the accounts that are wanted: their numbers are looked up once. */
export const isWanted = (
  from: From,
  kind: CustomerKind,
  account: string,
  given: Pick<GivenPlace, 'environment' | 'customer'>,
) =>
  kind === 'all'
    ? sql<boolean>`true`
    : sql<boolean>`${sql.ref(account)} = any(array(${accountsOf(from, kind, given).select('account.number')}))`;

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

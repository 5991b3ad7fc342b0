import type { FactSelect, RequestContext } from '@counterfoil/engine/define';
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { UsageTables } from '../table-definitions.ts';
import type { BreakdownQuestion } from './breakdown.ts';

/** A builder of statements on the tables of usage. */
export type From = Parameters<FactSelect<UsageTables, unknown>>[0];

/** Events of one name: whose they are, and what they have to say. */
export type EventChoice = Pick<BreakdownQuestion, 'of' | 'filters' | 'sources'>;

/** The text of a property, as filters and groups compare it; null where there is none. */
export const propertyText = (name: string): RawBuilder<string | null> =>
  sql<string | null>`(event.properties ->> ${name}::text)`;

/** The events of a choice, of whatever time. */
export function eventsOf({ principal }: RequestContext, from: From, choice: EventChoice) {
  const { of, filters, sources } = choice;
  const names = from
    .selectFrom('event_name')
    .innerJoin('environment', 'environment.number', 'event_name.environment')
    .select('event_name.number')
    .where('environment.environment_id', '=', principal.environmentId)
    .where('event_name.name', '=', of.eventName);
  return from
    .selectFrom('event')
    .where('event.name', '=', names)
    .where(ofCustomer(from, principal.environmentId, of.customer))
    .where((row) =>
      row.and([
        ...filters.map(
          ({ key, values }) => sql<SqlBool>`${propertyText(key)} = any(${sql.val(values)}::text[])`,
        ),
        ...(sources.length === 0
          ? []
          : [sql<SqlBool>`event.source = any(${sql.val(sources)}::text[])`]),
      ]),
    );
}

function ofCustomer(
  from: From,
  environmentId: string,
  customer: EventChoice['of']['customer'],
): Expression<SqlBool> {
  const accounts = from
    .selectFrom('account')
    .innerJoin('environment', 'environment.number', 'account.environment')
    .select('account.number')
    .where('environment.environment_id', '=', environmentId);
  const among = (some: Expression<unknown>) => sql<SqlBool>`event.account = any(array(${some}))`;
  switch (customer.kind) {
    case 'customer':
      return among(accounts.where('account.customer_id', '=', customer.id));
    case 'customers':
      return among(
        accounts.where(sql<SqlBool>`account.customer_id = any(${sql.val(customer.ids)}::text[])`),
      );
    case 'external':
      return among(
        accounts
          .where('account.external_id', '=', customer.id)
          .where('account.customer_id', 'is', null),
      );
    case 'all': {
      const own = from
        .selectFrom('environment')
        .select('environment.number')
        .where('environment.environment_id', '=', environmentId);
      return sql<SqlBool>`event.environment = (${own})`;
    }
    default:
      return customer satisfies never;
  }
}

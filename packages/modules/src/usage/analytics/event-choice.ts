import type { AskingContext, FactSelect } from '@counterfoil/engine/define';
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { tracesOf, whereTraced } from '../property-traces.ts';
import type { UsageTables } from '../table-definitions.ts';
import type { BreakdownQuestion } from './breakdown.ts';

/** A builder of statements on the tables of usage. */
export type From = Parameters<FactSelect<UsageTables, unknown>>[0];

/** Events of one name: whose they are, and what they have to say. */
export interface EventChoice extends Pick<BreakdownQuestion, 'of' | 'filters' | 'sources'> {
  /** The numbers of the accounts that are wanted; null for all. */
  readonly accounts: readonly string[] | null;
}

/** The text of a property, as filters and groups compare it; null where there is none. */
export const propertyText = (name: string): RawBuilder<string | null> =>
  sql<string | null>`(event.properties ->> ${name}::text)`;

/** The events of a choice, of whatever time. */
export function eventsOf({ principal }: AskingContext, from: From, choice: EventChoice) {
  const { of, filters, sources, accounts } = choice;
  const names = from
    .selectFrom('event_name')
    .innerJoin('environment', 'environment.number', 'event_name.environment')
    .select('event_name.number')
    .where('environment.environment_id', '=', principal.environmentId)
    .where('event_name.name', '=', of.eventName);
  return from
    .selectFrom('event')
    .where('event.name', '=', names)
    .where(ofAccounts(from, principal.environmentId, accounts))
    .where((row) =>
      row.and([
        ...filters.map((filter) =>
          whereTraced(
            sql<SqlBool>`${propertyText(filter.key)} = any(${sql.val(filter.values)}::text[])`,
            tracesOf(filter),
          ),
        ),
        ...(sources.length === 0
          ? []
          : [sql<SqlBool>`event.source = any(${sql.val(sources)}::text[])`]),
      ]),
    );
}

function ofAccounts(
  from: From,
  environmentId: string,
  accounts: EventChoice['accounts'],
): Expression<SqlBool> {
  if (accounts !== null) return sql<SqlBool>`event.account = any(${sql.val(accounts)}::bigint[])`;
  const own = from
    .selectFrom('environment')
    .select('environment.number')
    .where('environment.environment_id', '=', environmentId);
  return sql<SqlBool>`event.environment = (${own})`;
}

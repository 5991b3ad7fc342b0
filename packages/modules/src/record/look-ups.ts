import {
  type AnyProjection,
  type AskingContext,
  type ColumnTypes,
  type Found,
  type Projection,
  type RequestContext,
  where,
} from '@counterfoil/engine/define';
import {
  type Aggregate,
  type EventCatalogue,
  invalidOperation,
  invariant,
  notFound,
  type RecordStatus,
} from '@counterfoil/kernel';
import { lowerCase, type Unique } from './definition.ts';

interface HasStatus {
  readonly status: RecordStatus;
}

/**
 * The record that a field of a request names, from the log and so never behind, when something new
 * may refer to it. Unknown or deleted: 404 naming the field. Archived: 400. `what` names its kind.
 */
export async function referredRecord<Catalogue extends EventCatalogue, Kept extends HasStatus>(
  context: RequestContext,
  aggregate: Aggregate<string, Catalogue, Kept | null>,
  { id, what, field }: { readonly id: string; readonly what: string; readonly field: string },
): Promise<Kept> {
  const record = await context.load(aggregate, id);
  if (!record || record.status === 'deleted') throw notFound(what, id, field);
  if (record.status === 'archived') {
    const message = `The ${what} ${id} is archived: nothing new can refer to it.`;
    throw invalidOperation(message, { reason: 'archived', field });
  }
  return record;
}

/**
 * Resources by id, archived ones included. For what embeds others: a page of features asks once for all
 * its meters.
 */
export const resourcesById = <Row, Resource, Columns extends ColumnTypes>(
  context: Pick<AskingContext, 'read'>,
  table: Projection<string, Row, Resource, Columns>,
  ids: readonly (string | null | undefined)[],
): Promise<ReadonlyMap<string, Resource>> =>
  context.read.findMany(table, [...new Set(ids.filter((id) => id !== null && id !== undefined))]);

/**
 * The row with an id, archived ones included. 404 when there is none or it is deleted, naming the field of
 * the request that holds the id.
 */
export async function foundById<Row, Resource, Columns extends ColumnTypes>(
  context: RequestContext,
  table: Projection<string, Row, Resource, Columns>,
  what: string,
  id: string,
  field = 'id',
) {
  const found = await context.read.find(table, id);
  if (!found) throw notFound(what, id, field);
  return found;
}

/**
 * The published row with a unique value: what is archived has given its value back. 404 when there is
 * none, with the name that the caller has for the value.
 */
export async function foundByUnique<Resource>(
  context: RequestContext,
  { called, unique, table }: WithUnique<Resource>,
  value: string,
  parameter: string,
): Promise<Found<Resource>> {
  invariant(unique, `no ${called} has a unique value`);
  // The column of a unique field is declared like any other, with the same name.
  const rows: AnyProjection = table;
  const found = await context.read.first(rows, [
    ...where(unique.field, 'eq', unique.ignoresCase ? lowerCase(value) : value),
    ...where('status', 'eq', 'published'),
  ]);
  if (!found) throw notFound(called, value, parameter);
  return found as Found<Resource>;
}

interface WithUnique<Resource> {
  readonly called: string;
  readonly unique?: Unique | null;
  // biome-ignore lint/suspicious/noExplicitAny: what a row holds is no business of a look-up.
  readonly table: Projection<string, any, Resource, any>;
}

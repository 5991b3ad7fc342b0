import { type ReadTable, type RequestContext, where } from '@counterfoil/engine/define';
import {
  type Aggregate,
  type EventCatalogue,
  invalidOperation,
  notFound,
  type RecordStatus,
  recordStatusSchema,
} from '@counterfoil/kernel';

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
    throw invalidOperation(message, { field });
  }
  return record;
}

/** Most ids of one look-up: as many as a page has rows. */
const lookUpMaximum = 1000;

/**
 * Resources by id, archived ones included, in one query per thousand. For what embeds others:
 * a page of features asks once for all its meters.
 */
export async function resourcesById<Row, Resource extends { readonly id: string }>(
  context: RequestContext,
  table: ReadTable<string, Row, Resource>,
  ids: readonly (string | null | undefined)[],
): Promise<ReadonlyMap<string, Resource>> {
  const wanted = [...new Set(ids.filter((id) => id !== null && id !== undefined))];
  const found = new Map<string, Resource>();
  for (let start = 0; start < wanted.length; start += lookUpMaximum) {
    const page = { limit: lookUpMaximum, offset: 0, status: recordStatusSchema.options };
    const some = where('id', 'in', wanted.slice(start, start + lookUpMaximum));
    for (const item of (await context.read.list(table, page, some)).items) found.set(item.id, item);
  }
  return found;
}

/** The row with an id, archived ones included. 404 when there is none or it is deleted. */
export async function foundById<Row, Resource>(
  context: RequestContext,
  table: ReadTable<string, Row, Resource>,
  what: string,
  id: string,
) {
  const found = await context.read.find(table, id);
  if (!found) throw notFound(what, id);
  return found;
}

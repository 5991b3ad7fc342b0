import {
  type Changes,
  createdStamps,
  type RecordStamps,
  type RecordStatus,
  referenceSchema,
  type Stamp,
  updatedStamps,
  withChanges,
} from '@counterfoil/kernel';
import { z } from 'zod';

/** The fields of every record of an offer, beside its own. */
export interface Kept extends RecordStamps {
  readonly status: RecordStatus;
}

/** A record that an event has just created. */
export const createdRecord = <Fields extends object>(
  fields: Fields,
  stamp: Stamp,
): Fields & Kept => ({ ...fields, status: 'published', ...createdStamps(stamp) });

/** A record after an event that changed some of its fields. */
export const changedRecord = <Fields extends Kept>(
  before: Fields,
  changes: Changes<Fields>,
  stamp: Stamp,
): Fields => ({ ...withChanges<Fields>(before, changes), ...updatedStamps(stamp) });

/** The fields of a record without what it has beside them: what its event would say of it. */
export function fieldsOf<Fields extends Kept>(record: Fields): Omit<Fields, keyof Kept> {
  const {
    status: _status,
    tenant_id: _tenant,
    environment_id: _environment,
    created_at: _createdAt,
    created_by: _createdBy,
    updated_at: _updatedAt,
    updated_by: _updatedBy,
    ...fields
  } = record;
  return fields;
}

/** A record that goes out of use. */
export const closedRecord = <Record extends Kept>(
  before: Record,
  status: RecordStatus,
  stamp: Stamp,
): Record => ({ ...before, ...updatedStamps(stamp), status });

/**
 * The records that go out of use together with an offer: those that are in use. The event names
 * them, so that the rows of each are found without the state.
 */
export const takenAlongData = z.object({
  prices: z.array(referenceSchema('price')),
  entitlements: z.array(referenceSchema('ent')),
  credit_grants: z.array(referenceSchema('cg')),
});
export type TakenAlong = z.output<typeof takenAlongData>;

/** The records of a list with one replaced, in its place. */
export const withRecord = <Item extends { readonly id: string }>(
  items: readonly Item[],
  item: Item,
): readonly Item[] => items.map((other) => (other.id === item.id ? item : other));

/** The record with an id; null when there is none. */
export const recordWith = <Item extends { readonly id: string }>(
  items: readonly Item[],
  id: string,
): Item | null => items.find((item) => item.id === id) ?? null;

/** The ids of the records that are in use. */
export const publishedIds = <Item extends Kept & { readonly id: string }>(
  items: readonly Item[],
): Item['id'][] => items.filter(({ status }) => status === 'published').map(({ id }) => id);

import type { RouteKey } from '@counterfoil/engine/define';
import { createCustomerSchema } from '../../customers/index.ts';
import { createPriceSchema } from '../../offers/index.ts';
import type { ImportedEntity } from '../task/values.ts';
import type { FileRow } from './file-row.ts';

type Row = Extract<FileRow, { kind: 'row' }>['row'];

/** A kind of record that a file may bring. */
export interface ImportKind {
  /** The fields that a row may have. */
  readonly fields: ReadonlySet<string>;
  /** The operation that takes one row, or many usage events. */
  readonly operation: RouteKey;
  /**
   * Rows with one name are carried out one after the other, in their order. Null where a row depends on whatever stands before
   * it.
   */
  readonly orderOf: (row: Row) => string | null;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const fieldsOf = ({ shape }: { readonly shape: object }): ReadonlySet<string> =>
  new Set(Object.keys(shape));

/** The fields of a usage event in a file. */
export const eventFields: ReadonlySet<string> = new Set([
  'event_name',
  'external_customer_id',
  'customer_id',
  'event_id',
  'timestamp',
  'source',
  'properties',
]);

/** The kinds, by the names of the contract. */
export const importKinds: Readonly<Record<ImportedEntity, ImportKind>> = {
  CUSTOMERS: {
    fields: fieldsOf(createCustomerSchema),
    operation: 'POST /tasks/{id}/customers',
    orderOf: ({ external_id, parent_customer_id, parent_customer_external_id }) =>
      parent_customer_id || parent_customer_external_id ? null : textOf(external_id),
  },
  EVENTS: {
    fields: eventFields,
    operation: 'POST /events/bulk',
    // The order within a bulk is kept.
    orderOf: () => null,
  },
  PRICES: {
    fields: fieldsOf(createPriceSchema),
    operation: 'POST /tasks/{id}/prices',
    // Prices of one owner stand in one stream.
    orderOf: ({ entity_id }) => textOf(entity_id),
  },
};

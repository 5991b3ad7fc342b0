import {
  aggregate,
  changedFields,
  createdStamps,
  type Decision,
  type EventOf,
  existing,
  instantSchema,
  invariant,
  isEmpty,
  type RecordStamps,
  type RecordStatus,
  referenceSchema,
  type TaxAssociationId,
  updatedStamps,
  withChanges,
  withoutNulls,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type Association, taxEntitySchema, type UpdateAssociation } from './association-schema.ts';

const changeableData = z.object({
  priority: z.number().int(),
  auto_apply: z.boolean(),
  metadata: z.record(z.string(), z.string()),
});
type Changeable = z.output<typeof changeableData>;

const associationData = z.object({
  id: referenceSchema('ta'),
  tax_rate_id: referenceSchema('taxrate'),
  entity_type: taxEntitySchema,
  entity_id: z.string(),
  currency: z.string().nullable(),
  start_date: instantSchema.nullable(),
  end_date: instantSchema.nullable(),
  ...changeableData.shape,
});
export type AssociationData = z.output<typeof associationData>;

const events = {
  TaxAssociationCreated: associationData,
  /** Only what changed. */
  TaxAssociationUpdated: changeableData.partial(),
  TaxAssociationDeleted: z.object({}),
} as const;
export type TaxAssociationEvent = EventOf<typeof events>;

export interface TaxAssociationRecord extends AssociationData, RecordStamps {
  readonly status: RecordStatus;
}

/** Null until the association is created. */
export type TaxAssociationState = TaxAssociationRecord | null;

export const taxAssociation = aggregate({
  name: 'tax_association',
  scope: 'environment',
  events,
  initial: null as TaxAssociationState,
  evolve: (state, event): TaxAssociationState => {
    const { stamp } = event;
    switch (event.type) {
      case 'TaxAssociationCreated':
        return { ...event.data, status: 'published', ...createdStamps(stamp) };
      case 'TaxAssociationUpdated':
        return {
          ...withChanges<TaxAssociationRecord>(existing(state, 'tax association'), event.data),
          ...updatedStamps(stamp),
        };
      case 'TaxAssociationDeleted':
        return {
          ...existing(state, 'tax association'),
          ...updatedStamps(stamp),
          status: 'deleted',
        };
      default:
        return event satisfies never;
    }
  },
  refersTo: (state) =>
    state?.status === 'published'
      ? [{ category: 'tax_rate', id: state.tax_rate_id, what: 'tax rate' }]
      : [],
  /** Nobody is taxed twice by one rate in one currency. */
  unique: (state) =>
    state?.status === 'published'
      ? [
          {
            name: 'withETag, tax_rate_id, currency',
            value: [
              state.entity_type,
              state.entity_id,
              state.tax_rate_id,
              state.currency ?? 'any',
            ].join('/'),
            problem: `The ${state.entity_type} ${state.entity_id} already has this tax rate.`,
          },
        ]
      : [],
});

type AssociationDecision = Decision<TaxAssociationState, TaxAssociationEvent>;

/** Attaches a rate. Rate and entity have been looked up. */
export const createAssociation =
  (data: AssociationData): AssociationDecision =>
  (state) => {
    invariant(state === null, `tax association ${data.id} is created twice`);
    return [{ type: 'TaxAssociationCreated', data }];
  };

/** Changes the fields that are given and differ; when none does, nothing happens. */
export const updateAssociation =
  (id: TaxAssociationId, request: UpdateAssociation): AssociationDecision =>
  (state) => {
    const current = writable(state, 'tax association', id);
    const changes = changedFields<Changeable>(current, request);
    return isEmpty(changes) ? [] : [{ type: 'TaxAssociationUpdated', data: changes }];
  };

/** Detaches a rate. */
export const deleteAssociation =
  (id: TaxAssociationId): AssociationDecision =>
  (state) => {
    writable(state, 'tax association', id);
    return [{ type: 'TaxAssociationDeleted', data: {} }];
  };

/** The association as the API shows it, without its rate: that is not its own. */
export const associationView = (state: TaxAssociationState): Association =>
  withoutNulls(existing(state, 'tax association'));

import type { RequestContext } from '@counterfoil/engine/define';
import { instantSchema, withoutNulls } from '@counterfoil/kernel';
import { z } from 'zod';
import { type EventsOf, record } from '../record/index.ts';
import { associationSchema, taxEntitySchema } from './association-schema.ts';
import { taxRateRecords } from './tax-rate.ts';

const claimName = 'entity, tax_rate_id, currency';

interface Claimed {
  readonly entity_type: string;
  readonly entity_id: string;
  readonly tax_rate_id: string;
  readonly currency: string | null;
}

const claimOf = ({ entity_type, entity_id, tax_rate_id, currency }: Claimed): string =>
  [entity_type, entity_id, tax_rate_id, currency ?? 'any'].join('/');

/** A tax rate that applies to a tenant or a customer. Its rate stays as long as it does. */
export const taxAssociationRecords = record({
  name: 'tax_association',
  called: 'tax association',
  prefix: 'ta',
  life: {
    created: {
      event: 'TaxAssociationCreated',
      publishes: 'tax_association.created',
      when: 'A tax rate applies to something',
    },
    updated: {
      event: 'TaxAssociationUpdated',
      publishes: 'tax_association.updated',
      when: 'How a tax rate applies changes',
    },
    deleted: {
      event: 'TaxAssociationDeleted',
      publishes: 'tax_association.deleted',
      when: 'A tax rate applies no more',
    },
  },
  fixed: {
    tax_rate_id: z.string(),
    entity_type: taxEntitySchema,
    entity_id: z.string(),
    currency: z.string().nullable(),
    start_date: instantSchema.nullable(),
    end_date: instantSchema.nullable(),
  },
  changeable: {
    priority: z.number().int(),
    auto_apply: z.boolean(),
    metadata: z.record(z.string(), z.string()),
  },
  references: { tax_rate_id: taxRateRecords },
  embeds: { tax_rate: { record: taxRateRecords, id: ({ tax_rate_id }) => tax_rate_id } },
  /** Nobody is taxed twice by one rate in one currency. */
  claims: ({ entity_type, entity_id, tax_rate_id, currency }) => [
    {
      name: claimName,
      field: 'tax_rate_code',
      value: claimOf({ entity_type, entity_id, tax_rate_id, currency }),
      problem: `The ${entity_type} ${entity_id} already has this tax rate.`,
    },
  ],
  schema: associationSchema,
  view: withoutNulls,
  table: {
    name: 'tax_associations',
    version: 1,
    columns: {
      tax_rate_id: { type: 'text', of: ({ tax_rate_id }) => tax_rate_id, index: true },
      entity_type: { type: 'text', of: ({ entity_type }) => entity_type },
      entity_id: { type: 'text', of: ({ entity_id }) => entity_id, index: true },
    },
  },
});

export type TaxAssociationEvent = EventsOf<typeof taxAssociationRecords>;
export const {
  aggregate: taxAssociation,
  create: createAssociation,
  update: updateAssociation,
  remove: deleteAssociation,
  view: associationView,
} = taxAssociationRecords;
/** An association as its stream has it, with nulls. */
export type AssociationRecord = NonNullable<typeof taxAssociation.initial>;

/** An association as it is created: complete, with the ids of rate and entity. */
export type AssociationData = Parameters<typeof createAssociation>[0];

/** The id of the association by which a rate applies to an entity in a currency, or in any; null where it does not. */
export const associationWith = (
  context: Pick<RequestContext, 'holderOf'>,
  claimed: Claimed,
): Promise<string | null> => context.holderOf(taxAssociation, claimName, claimOf(claimed));

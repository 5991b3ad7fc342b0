import { metadataSchema, recordStampsShape, recordStatusSchema } from '@counterfoil/kernel';
import { z } from 'zod';

/** The kind of offer that owns a record. */
export const ownerTypeSchema = z.enum(['PLAN', 'ADDON', 'COSTSHEET']);
export type OwnerType = z.output<typeof ownerTypeSchema>;

/** The owner of a record as its event carries it. It never changes. */
export const ownerData = { entity_type: ownerTypeSchema, entity_id: z.string() } as const;

/** The offer that a record belongs to. */
export interface Owner {
  readonly entity_type: OwnerType;
  readonly entity_id: string;
}

/** The name of each kind, in words for people. */
export const ownerNames: Readonly<Record<OwnerType, string>> = {
  PLAN: 'plan',
  ADDON: 'add-on',
  COSTSHEET: 'costsheet',
};

/** A plan or an add-on where it stands inside a record that it owns: without its lists. */
export const offerBriefSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    name: z.string(),
    lookup_key: z.string().optional(),
    description: z.string().optional(),
    display_order: z.number().int().optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'OfferBrief' });
